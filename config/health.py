"""For load balancers and whoever watches: /healthz, whether this process answers, and /readyz,
whether it can do its work.

They are answered before anything that wants a known host, HTTPS, a session or a key, and count
towards no limit. So a stranger may ask as often as they like: what was found is kept for a moment,
and the answer says no more than what is well.
"""

import logging
import math
import time
from collections.abc import Callable

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpResponse

from accounts.engine import resolver_answers
from accounts.request import SiteRequest
from apikeys.errors import ApiError
from apikeys.rest.responses import ApiResponse, error_response, render
from apikeys.throttling.limits import counters_are_reachable
from config.errors import RETRY_AFTER
from runtime.database.empty_database import is_empty
from runtime.database.timeouts import database_seconds
from runtime.health_check_cache import HealthCheckCache

logger = logging.getLogger(__name__)

OK, DEGRADED, UNAVAILABLE = "ok", "degraded", "unavailable"
# A caller of /readyz gets an answer within two seconds, even when a server is silent.
DATABASE_PATIENCE, OTHER_PATIENCE = 1.5, 1.0
# Ends a check that waits for one answer of the database. Longer than a caller waits: on a busy
# machine, a check that is late for one caller is still right for the next.
DATABASE_SECONDS = 2.0
RESOLVER_SECONDS = 0.5
# How long a worker that starts waits for its first checks.
WARM_UP_SECONDS = 10.0


def _database_answers() -> bool:
    database_seconds.set(DATABASE_SECONDS)
    try:
        # A method of our own backends, config/postgresql and config/sqlite.
        answers: bool = connection.answers()  # type: ignore[attr-defined]
        return answers
    finally:
        # This thread's own.
        connection.close()


def _migrations_are_applied() -> bool:
    database_seconds.set(DATABASE_SECONDS)
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    finally:
        connection.close()


# Without these nothing works.
NEEDED = {
    "database": HealthCheckCache(
        _database_answers, patience=DATABASE_PATIENCE, good_seconds=1, bad_seconds=1
    ),
    # What was applied once stays so: a process does not outlive a migration backwards.
    "migrations": HealthCheckCache(
        _migrations_are_applied, patience=DATABASE_PATIENCE, good_seconds=math.inf, bad_seconds=3
    ),
}
# Without these it works less well: each worker counts for itself, verdicts are unknown.
USEFUL = {
    "counters": HealthCheckCache(
        counters_are_reachable, patience=OTHER_PATIENCE, good_seconds=1, bad_seconds=1
    ),
    "resolver": HealthCheckCache(
        lambda: resolver_answers(RESOLVER_SECONDS),
        patience=OTHER_PATIENCE,
        good_seconds=10,
        bad_seconds=10,
    ),
}


class HealthMiddleware:
    def __init__(self, get_response: Callable[[SiteRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.was_ready = True

    def __call__(self, request: SiteRequest) -> HttpResponse:
        if request.path_info not in {"/healthz", "/readyz"}:
            return self.get_response(request)
        response = self._answer(request)
        # Nobody wants to read of each, once a second: neither in our records nor in Django's.
        request.in_access_log = True
        response._has_been_logged = True  # type: ignore[attr-defined]
        return response

    def _answer(self, request: SiteRequest) -> HttpResponse:
        if request.method not in {"GET", "HEAD"}:
            error = ApiError("method_not_allowed", headers={"Allow": "GET, HEAD"})
            return error_response(error, request.id)
        if request.path_info == "/healthz":
            return ApiResponse(render({"status": OK}))
        states = look()
        is_ready = states["status"] != UNAVAILABLE
        self._log(states, is_ready=is_ready)
        if is_ready:
            return ApiResponse(render(states))
        # Of the same form as all others of /readyz: who reads it by program looks in one place.
        return ApiResponse(render(states), 503, {"Retry-After": str(RETRY_AFTER)})

    def _log(self, states: dict[str, str], *, is_ready: bool) -> None:
        """When it changes, in this worker."""
        if is_ready is self.was_ready:
            return
        self.was_ready = is_ready
        if is_ready:
            logger.warning("Ready again")
        else:
            away = [name for name, state in states.items() if state == UNAVAILABLE]
            logger.error("Not ready: %s", ", ".join(away[1:]))


def warm_up() -> None:
    """Runs every check once, before a worker accepts requests.

    The first checks also load migrations and open the connection pool. On a busy machine that takes
    longer than a caller of /readyz waits. A database that is away doesn't keep the worker from
    starting: /readyz then says so.
    """
    deadline = time.monotonic() + WARM_UP_SECONDS
    for kept in _start_checks():
        kept.wait(deadline - time.monotonic())


def found_no_tables() -> bool:
    """Returns whether the warm-up found a database that works and in which nothing was created."""
    return NEEDED["database"].found() and not NEEDED["migrations"].found() and is_empty()


def _start_checks() -> list[HealthCheckCache]:
    """All at the same time: the slowest says how long it takes."""
    checks = [*NEEDED.values(), *USEFUL.values()]
    for kept in checks:
        kept.look()
    return checks


def look() -> dict[str, str]:
    _start_checks()
    needed = {name: OK if kept.found() else UNAVAILABLE for name, kept in NEEDED.items()}
    useful = {name: OK if kept.found() else DEGRADED for name, kept in USEFUL.items()}
    states = needed | useful
    worst = next((one for one in (UNAVAILABLE, DEGRADED) if one in states.values()), OK)
    return {"status": worst, **states}
