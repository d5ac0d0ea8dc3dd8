"""Serving with gunicorn: settings, web worker, reload, and supervisor."""
