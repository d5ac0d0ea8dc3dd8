"""The web workers of a running product."""

import os
import signal

from tests.config.server.test_make_serve import children, command_line
from tests.servers.product import Product
from tests.support.waiting import wait_until


def web_workers(site: Product) -> set[int]:
    """Return the children of gunicorn's main process, which may be a child of the supervisor."""
    family = [site.process.pid, *children(site.process.pid)]
    main = next(pid for pid in family if "gunicorn" in command_line(pid))
    return set(children(main))


def stop_web_workers(site: Product) -> set[int]:
    """End all web workers in order. gunicorn starts others; return the old ones."""
    old = web_workers(site)
    for worker in old:
        os.kill(worker, signal.SIGTERM)
    return old


def replace_web_workers(site: Product) -> None:
    old = stop_web_workers(site)
    wait_until(lambda: (new := web_workers(site)) and not old & new)
