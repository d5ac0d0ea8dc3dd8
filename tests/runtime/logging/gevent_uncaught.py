"""Run by test_formatters.py: raise uncaught exceptions wherever a web worker can."""

from gevent import monkey

monkey.patch_all()

import threading  # noqa: E402
import warnings  # noqa: E402
from logging.config import dictConfig  # noqa: E402

import gevent  # noqa: E402

from config.server.worker import Worker  # noqa: E402
from runtime.logging import formatters  # noqa: E402
from runtime.logging.dict_config import log_settings  # noqa: E402

SECRET = "contains svc_live_" + "a1B2" * 9


def crash() -> None:
    raise ValueError(SECRET)


def main() -> None:
    dictConfig(log_settings("INFO", "json"))
    formatters.log_uncaught()
    Worker.log_greenlet_errors()
    thread = threading.Thread(target=crash)
    thread.start()
    thread.join()
    gevent.spawn(crash).join()
    warnings.warn(SECRET, stacklevel=1)
    crash()


if __name__ == "__main__":
    main()
