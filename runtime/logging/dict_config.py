"""Where log records go, and in which form: one line each, on standard error. Without Django."""

from typing import Any

FORMATS = ("json", "text")
LEVELS = ("debug", "info", "warning", "error")


def log_settings(level: str, form: str) -> dict[str, Any]:
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
        "handlers": {
            "stderr": {"class": "runtime.logging.handler.StderrHandler", "formatter": form}
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Without its own handlers Django's loggers follow the root: never a mail.
            "django": {"handlers": [], "level": level, "propagate": True},
            # What is refused stands in the record of the request: here are crashes alone.
            "django.request": {"level": "ERROR", "filters": ["without path"]},
            "django.security": {"level": "CRITICAL"},
            # It warns that the answer to each HEAD had a body, which it has not sent.
            "gunicorn.http.wsgi": {"level": "ERROR"},
        },
    }
