import logging

from gunicorn.config import Config
from gunicorn.glogging import Logger

from config.server.environment import configure_logging


class GunicornLogger(Logger):
    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        if cfg.errorlog != "-":
            return
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = True
        if not logging.getLogger().handlers:
            configure_logging()
