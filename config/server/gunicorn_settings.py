"""How gunicorn serves the product. GUNICORN_CMD_ARGS overrides each line.

Nothing of Django is imported here: gevent must patch a worker before Django is loaded into it.
Where to listen and how many workers: config/server/supervisor.py, from the settings.
"""

import gc
import os
import signal
import sys
from typing import Any

from gunicorn.arbiter import Arbiter

from config.server.graceful_reload import Connections, GracefulReload

# Each connection is a greenlet: those that send nothing, or wait for DNS, hold up nobody. What was
# measured against threads: docs/performance.md.
worker_class = "config.server.worker.Worker"
worker_connections = 4000
# Also the time a client has to send a request's head.
keepalive = 10
# A worker that does not come back to its loop for this long is replaced.
timeout = 60
graceful_timeout = 30
# Only Django decides whom to believe in X-Forwarded-*: TRUSTED_PROXIES.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
# Without it gunicorn writes a socket into the home folder.
control_socket_disable = True
loglevel = "warning"
logger_class = "config.server.gunicorn_logger.GunicornLogger"
# Set by config/server/supervisor.py where metrics are on.
METRICS = os.environ.get("PROMETHEUS_MULTIPROC_DIR")


def on_starting(server: Any) -> None:
    server.handover = GracefulReload()


def on_reload(server: Any) -> None:
    server.handover.begin(server.worker_age, server.cfg.workers)


def post_fork(server: Any, worker: Any) -> None:
    """Until a worker has set its own handlers, gunicorn's would swallow the order to stop."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    worker.handover = server.handover
    worker.connections = Connections()


def worker_exit(server: Any, worker: Any) -> None:
    """What a worker counted and has not written yet. One that never loaded Django has nothing."""
    if "runtime.database.write_behind" in sys.modules:
        sys.modules["runtime.database.write_behind"].flush_all()
    if hasattr(worker, "pulse"):
        worker.pulse.end()


def child_exit(server: Any, worker: Any) -> None:
    """What it counted stays; what it was does not."""
    if METRICS:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)


def post_worker_init(worker: Any) -> None:
    # What is loaded by now stays: to look through all of it for garbage stopped every request for
    # a moment. And what a request leaves is mostly freed without any search.
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)
    # Another application than the product, such as a benchmark's, has no checks and no metrics.
    is_product = "config.wsgi" in sys.modules
    if is_product:
        from accounts.authentication.passwords import hash_queue
        from config.health import warm_up

        hash_queue.start()
        # Before note_ready: once it is called, the old workers of a reload leave.
        warm_up()
        _refuse_empty_database()
    worker.handover.note_ready(worker.age)
    if is_product:
        from runtime.flusher import Flusher

        worker.pulse = Flusher("web")
        worker.pulse.start()
    if worker.age == 1:
        print("  Ready. Ctrl-C stops it.\n", flush=True)


def _refuse_empty_database() -> None:
    """Stops the whole server. In production no worker creates tables, and none works without."""
    from django.conf import settings

    from config.health import found_no_tables
    from runtime.database.empty_database import what_to_do

    if settings.PRODUCTION and found_no_tables():
        print(what_to_do(), file=sys.stderr, flush=True)
        sys.exit(Arbiter.WORKER_BOOT_ERROR)
