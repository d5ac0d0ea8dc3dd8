"""What staff use in Django's admin: its site, pages, panels, search, and groups."""
