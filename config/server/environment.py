"""Settings of the processes that don't load Django: the supervisor and gunicorn's main process.

Without it they take a third of the memory. config/settings has the same defaults, and reports
invalid variables before these processes read them (config/server/prepare.py).
"""

import os
from logging.config import dictConfig

from runtime.logging.dict_config import log_settings
from runtime.logging.formatters import log_uncaught


def read_variable(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def configure_logging() -> None:
    is_production = read_variable("ENVIRONMENT", "local").lower() == "production"
    level = read_variable("LOG_LEVEL", "info").upper()
    log_format = read_variable("LOG_FORMAT", "json" if is_production else "text").lower()
    dictConfig(log_settings(level, log_format))
    log_uncaught()
