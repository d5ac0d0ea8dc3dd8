import logging
import os
from logging.config import dictConfig

from gunicorn.config import Config
from gunicorn.glogging import Logger

from runtime.logging.dict_config import log_settings
from runtime.logging.formatters import log_uncaught


class GunicornLogger(Logger):
    """Send gunicorn's records to the application log, as supervisor.py configures it."""

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        if cfg.errorlog != "-":
            return
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = True
        if not logging.getLogger().handlers:
            level = os.environ.get("LOG_LEVEL", "info").upper()
            dictConfig(log_settings(level, os.environ.get("LOG_FORMAT", "text")))
            log_uncaught()
