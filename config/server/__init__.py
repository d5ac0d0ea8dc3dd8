"""Serve the product with gunicorn: settings, web worker, reload, and supervisor."""
