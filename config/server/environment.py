"""Settings of processes without Django, which triples their memory.

config/settings validates them.
"""

import os
from logging.config import dictConfig

from runtime.logging.dict_config import log_settings
from runtime.logging.formatters import log_uncaught


def read_variable(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def is_on(name: str) -> bool:
    return read_variable(name, "off").lower() in {"1", "true", "yes", "on"}


def configure_logging() -> None:
    is_production = read_variable("ENVIRONMENT", "local").lower() == "production"
    level = read_variable("LOG_LEVEL", "info").upper()
    log_format = read_variable("LOG_FORMAT", "json" if is_production else "text").lower()
    dictConfig(log_settings(level, log_format))
    log_uncaught()
