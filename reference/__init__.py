"""Public pages: landing page, docs, changelog, search."""
