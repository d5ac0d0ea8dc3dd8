"""gunicorn's configuration. GUNICORN_CMD_ARGS overrides it.

This module must not import Django: gevent must patch a worker before that, and a reload would keep
the old code of all modules that the main process has imported.
"""

import gc
import mmap
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from gunicorn.arbiter import Arbiter

from config.server.environment import read_variable

bind = f"127.0.0.1:{read_variable('PORT', '8000')}"
workers = int(read_variable("WEB_WORKERS", str(os.cpu_count() or 1)))
# Each connection has a greenlet, so silent clients and DNS queries block no other request.
# docs/performance.md compares this with threads.
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
# gunicorn would create a socket in the home directory.
control_socket_disable = True
loglevel = "warning"
logger_class = "config.server.gunicorn_logger.GunicornLogger"
# The web workers inherit it. A reload replaces it for the new ones.
_memory = mmap.mmap(-1, mmap.PAGESIZE)


# A reload. gunicorn would stop the old workers as soon as it has forked the new ones, and requests
# would wait for the seconds that these take to load. So gunicorn wants all of them at first, each
# new worker stops the old ones it replaces when it is ready, and with each the number goes down.


def on_starting(server: Any) -> None:
    server.last_old_age = 0


def on_reload(server: Any) -> None:
    server.last_old_age = server.worker_age
    server.num_workers += len(server.WORKERS)


def post_fork(server: Any, worker: Any) -> None:
    # Until the code is loaded: searching it for garbage again and again takes a tenth of that time.
    gc.disable()
    # Otherwise the main process's handlers would ignore signals until the worker sets its own.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    old_workers = sorted(pid for pid, old in server.WORKERS.items() if is_old(server, old))
    position = worker.age - server.last_old_age - 1
    worker.replaced = old_workers[position % server.cfg.workers :: server.cfg.workers]


def child_exit(server: Any, worker: Any) -> None:
    if is_old(server, worker):
        server.num_workers -= 1


def is_old(server: Any, worker: Any) -> bool:
    """Return whether the newest reload replaces the worker. Ages are numbers, from 1 up."""
    return bool(worker.age <= server.last_old_age)


def worker_exit(server: Any, worker: Any) -> None:
    """Write the counts and log lines that a worker still has in memory, if it has loaded Django."""
    if "runtime.database.write_behind" in sys.modules:
        sys.modules["runtime.database.write_behind"].flush_all()
    if hasattr(worker, "flusher"):
        worker.flusher.flush()


def post_worker_init(worker: Any) -> None:
    # Benchmarks run other applications, without health checks and metrics.
    is_product = "config.wsgi" in sys.modules
    if is_product:
        _start_tracing()
    # Exclude the objects that exist by now: searching them for garbage would stop all requests
    # for a moment. Collect rarely, as most objects of a request are freed by reference counting,
    # but after few of them, because collecting 50,000 objects stops all requests for 10 ms.
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 2, 50)
    gc.enable()
    if is_product:
        from accounts.authentication.passwords import hash_queue
        from config.health import warm_up
        from runtime.http import fairness

        fairness.share_between_processes(_memory)
        hash_queue.start()
        warm_up()
        _refuse_empty_database()
    for replaced in worker.replaced:
        with suppress(ProcessLookupError):
            os.kill(replaced, signal.SIGTERM)
    if is_product:
        from runtime.flusher import Flusher

        worker.flusher = Flusher("web")
        worker.flusher.start()
    if worker.age == 1:
        print("  Ready. Ctrl-C stops it.\n", flush=True)


def _start_tracing() -> None:
    from runtime import tracing

    if tracing.IS_ON:
        tracing.start_exporting()


def _refuse_empty_database() -> None:
    """Stop the whole server, as workers don't create tables in production."""
    from django.conf import settings

    from config.health import database_is_empty
    from runtime.database.empty_database import empty_database_message

    if settings.PRODUCTION and database_is_empty():
        print(empty_database_message(), file=sys.stderr, flush=True)
        sys.exit(Arbiter.WORKER_BOOT_ERROR)
