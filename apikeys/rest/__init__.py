"""REST conventions that all views under /v1 share."""
