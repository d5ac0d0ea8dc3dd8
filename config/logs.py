"""Where log records go, and in which form: one line each, on standard error."""

from typing import Any


def log_settings(level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "accounts.tracing.LineFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s",
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Without its own handlers Django's loggers follow the root: never a mail.
            "django": {"handlers": [], "level": level, "propagate": True},
            # It warns that the answer to each HEAD had a body, which it has not sent.
            "gunicorn.http.wsgi": {"level": "ERROR"},
        },
    }
