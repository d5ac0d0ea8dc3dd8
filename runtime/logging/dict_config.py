from collections.abc import Mapping
from typing import Any

FORMATS = ("json", "text")
LEVELS = ("debug", "info", "warning", "error")


def log_settings(
    level: str, log_format: str, sentry: Mapping[str, str] | None = None
) -> dict[str, Any]:
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
            # Django's handlers would email errors to ADMINS.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Crashes only: refusals are in the access log.
            "django.request": {"level": "ERROR", "filters": ["without path"]},
            "django.security": {"level": "CRITICAL"},
            # It warns about each HEAD response.
            "gunicorn.http.wsgi": {"level": "ERROR"},
            # It warns about headers, with the URL, which is a customer's secret.
            "urllib3": {"level": "ERROR"},
            # It logs the letters of names on invoices.
            "fontTools": {"level": "WARNING"},
        },
    }
