"""The staff side of Django's admin: site, pages, panels, search, and groups."""
