"""Configure logging: one line per record, on standard error. Independent of Django."""

from collections.abc import Mapping
from typing import Any

FORMATS = ("json", "text")
LEVELS = ("debug", "info", "warning", "error")


def log_settings(
    level: str, log_format: str, sentry: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the argument of dictConfig. `sentry`: arguments for error_tracking.create_handler."""
    handlers: dict[str, dict[str, Any]] = {
        "stderr": {"class": "runtime.logging.handler.StderrHandler", "formatter": log_format}
    }
    if sentry:
        handlers["sentry"] = {"()": "runtime.logging.error_tracking.create_handler", **sentry}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {"()": "runtime.logging.formatters.JsonFormatter"},
            "text": {
                "()": "runtime.logging.formatters.LineFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s "
                "[%(request_id)s %(account_id)s] %(message)s",
            },
        },
        "filters": {"without path": {"()": "runtime.logging.formatters.WithoutPath"}},
        "handlers": handlers,
        "root": {"handlers": [*handlers], "level": level},
        "loggers": {
            # Removes Django's handlers, which would email errors to ADMINS.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Crashes only: the access log has a record of each refusal.
            "django.request": {"level": "ERROR", "filters": ["without path"]},
            "django.security": {"level": "CRITICAL"},
            # It warns about the body of each HEAD response, although it doesn't send the body.
            "gunicorn.http.wsgi": {"level": "ERROR"},
        },
    }
