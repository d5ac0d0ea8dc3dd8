"""gunicorn's configuration. GUNICORN_CMD_ARGS overrides it.

This module must not import Django: gevent must patch a worker before that.
"""

import gc
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from gunicorn.arbiter import Arbiter
from gunicorn.systemd import sd_notify

from config.server.environment import is_production, read_variable
from config.server.pools import POOLS

_pool = POOLS.get(read_variable("WEB_POOL", "").lower(), POOLS["api"])
_port = int(read_variable("PORT", "8000")) + _pool.port_offset
bind = f"{read_variable('BIND_ADDRESS', '127.0.0.1')}:{_port}"
workers = int(read_variable(_pool.variable, str(_pool.default_workers)))
# Each connection has a greenlet, so slow clients block no other request.
worker_class = "config.server.worker.Worker"
worker_connections = 4000
# Also the time that a client has to send a request's head.
keepalive = 10
# As long as nginx passes on (deploy/nginx/nginx.conf), so that a long search gets a page.
limit_request_line = 8190
# A worker whose event loop is blocked for this long is replaced.
timeout = 60
graceful_timeout = 30
# Only Django evaluates X-Forwarded-* headers: TRUSTED_PROXIES.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
# The release's own folder: $PWD may be a link that leads to another release later.
chdir = str(Path.cwd())
# gunicorn would create a socket in the home directory.
control_socket_disable = True
# gunicorn logs its start and stop, those of its workers, and reloads.
loglevel = "info" if is_production() else "warning"
logger_class = "config.server.gunicorn_logger.GunicornLogger"
# gunicorn would tell systemd that it's ready before its workers are.
_notify_socket = os.environ.pop("NOTIFY_SOCKET", "")


def post_fork(server: Any, worker: Any) -> None:
    # Collecting while the code loads takes a tenth of that time.
    gc.disable()
    # The main process's handlers would ignore signals until the worker sets others.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def worker_exit(server: Any, worker: Any) -> None:
    if "runtime.database.write_behind" in sys.modules:
        sys.modules["runtime.database.write_behind"].flush_all()
    if hasattr(worker, "flusher"):
        worker.flusher.flush()


def post_worker_init(worker: Any) -> None:
    # Benchmarks run other applications, without health checks and metrics.
    is_product = "config.wsgi" in sys.modules
    if is_product:
        from runtime import tracing

        if tracing.IS_ON:
            tracing.start_exporting()
    # Exclude the objects that exist by now: searching them for garbage would stop all requests
    # for a moment. Collect rarely, as most objects of a request are freed by reference counting,
    # but after few of them, because collecting 50,000 objects stops all requests for 10 ms.
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 2, 50)
    gc.enable()
    if is_product:
        from django.conf import settings

        from config.health import warm_up
        from runtime.flusher import Flusher

        warm_up()
        _refuse_empty_database()
        worker.flusher = Flusher(
            "web" if settings.WEB_POOL == "all" else f"web-{settings.WEB_POOL}"
        )
        worker.flusher.start()
    if _notify_socket and worker.age >= worker.cfg.workers:
        os.environ["NOTIFY_SOCKET"] = _notify_socket
        sd_notify("READY=1", worker.log, unset_environment=True)
    if worker.age == 1:
        print("  Ready. Ctrl-C stops it.\n", flush=True)


def _refuse_empty_database() -> None:
    """Stop the whole server: in production, workers don't create tables."""
    from django.conf import settings

    from config.health import database_is_empty
    from runtime.database.applied_migrations import empty_database_message

    if settings.PRODUCTION and database_is_empty():
        logging.getLogger("config.server").critical("%s", empty_database_message())
        logging.shutdown()
        sys.exit(Arbiter.WORKER_BOOT_ERROR)
