"""Settings of processes without Django, which triples their memory.

config/settings validates them.
"""

import logging
import os
import sys
from logging.config import dictConfig
from typing import NoReturn

from runtime.logging.dict_config import log_settings
from runtime.logging.formatters import log_uncaught


def read_variable(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def is_on(name: str) -> bool:
    return read_variable(name, "off").lower() in {"1", "true", "yes", "on"}


def configure_logging() -> None:
    dictConfig(log_settings(read_variable("LOG_LEVEL", "info").upper(), _log_format()))
    log_uncaught()


def fail(message: str) -> NoReturn:
    """End the process with a log record, or with a text that a person reads."""
    if _log_format() == "text" or sys.stderr.isatty():
        sys.exit(message)
    configure_logging()
    logging.getLogger("config.server").critical("%s", message)
    sys.exit(1)


def is_production() -> bool:
    return read_variable("ENVIRONMENT", "local").lower() == "production"


def _log_format() -> str:
    return read_variable("LOG_FORMAT", "json" if is_production() else "text").lower()
