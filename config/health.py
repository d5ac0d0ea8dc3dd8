"""Health checks for load balancers and monitoring.

/healthz reports whether the process responds, /readyz whether it can do its work. Both need no
known host, HTTPS, session or key, and no rate limit applies. As any client may poll them, results
are cached for a moment, and responses contain only the state of each check, and the version.
"""

import logging
import math
import time
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.http import HttpResponse

from accounts.engine import check_resolvers
from accounts.request import SiteRequest
from apikeys.errors import ApiError
from apikeys.rest.responses import ApiResponse, error_response, render
from apikeys.throttling.limits import counters_are_reachable
from config.errors import RETRY_AFTER
from runtime.database.empty_database import is_empty
from runtime.database.missing_migrations import has_missing_migrations
from runtime.database.timeouts import query_timeout
from runtime.health_check_cache import HealthCheckCache

logger = logging.getLogger(__name__)

OK, DEGRADED, UNAVAILABLE = "ok", "degraded", "unavailable"
# /readyz responds within two seconds, even if a server doesn't.
DATABASE_WAIT_SECONDS, OTHER_WAIT_SECONDS = 1.5, 1.0
# The timeout of one query of a check. It's longer than /readyz waits: on a busy machine, a result
# that is late for one response is still useful for the next.
DATABASE_TIMEOUT = 2.0
RESOLVER_TIMEOUT = 0.5
# How long a starting worker waits for its first checks.
WARM_UP_SECONDS = 10.0


def _database_is_available() -> bool:
    query_timeout.set(DATABASE_TIMEOUT)
    try:
        # Both backends in runtime/database define it.
        is_available: bool = connection.is_available()  # type: ignore[attr-defined]
        return is_available
    finally:
        # Connections are per thread, and this thread ends here.
        connection.close()


def _migrations_are_applied() -> bool:
    query_timeout.set(DATABASE_TIMEOUT)
    try:
        return not has_missing_migrations(connection)
    finally:
        connection.close()


# The product doesn't work without these.
REQUIRED = {
    "database": HealthCheckCache(
        _database_is_available, timeout=DATABASE_WAIT_SECONDS, healthy_ttl=1, unhealthy_ttl=1
    ),
    # Never checked again once true: operators don't reverse migrations under a running process.
    "migrations": HealthCheckCache(
        _migrations_are_applied,
        timeout=DATABASE_WAIT_SECONDS,
        healthy_ttl=math.inf,
        unhealthy_ttl=3,
    ),
}
# Without these, workers count requests separately, and verdicts are unknown.
OPTIONAL = {
    "counters": HealthCheckCache(
        counters_are_reachable, timeout=OTHER_WAIT_SECONDS, healthy_ttl=1, unhealthy_ttl=1
    ),
    "resolver": HealthCheckCache(
        lambda: check_resolvers(RESOLVER_TIMEOUT),
        timeout=OTHER_WAIT_SECONDS,
        healthy_ttl=10,
        unhealthy_ttl=10,
    ),
}


class HealthMiddleware:
    def __init__(self, get_response: Callable[[SiteRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.was_ready = True

    def __call__(self, request: SiteRequest) -> HttpResponse:
        if request.path_info not in {"/healthz", "/readyz"}:
            return self.get_response(request)
        response = self._get_response(request)
        # Polls would fill the access log and Django's log.
        request.in_access_log = True
        response._has_been_logged = True  # type: ignore[attr-defined]
        return response

    def _get_response(self, request: SiteRequest) -> HttpResponse:
        if request.method not in {"GET", "HEAD"}:
            error = ApiError("method_not_allowed", headers={"Allow": "GET, HEAD"})
            return error_response(error, request.id)
        if request.path_info == "/healthz":
            return ApiResponse(render({"status": OK}))
        states = check_health()
        is_ready = states["status"] != UNAVAILABLE
        self._log(states, is_ready=is_ready)
        body = render({**states, "version": settings.VERSION})
        if is_ready:
            return ApiResponse(body)
        # Not an error response: monitoring reads the same fields with every status.
        return ApiResponse(body, 503, {"Retry-After": str(RETRY_AFTER)})

    def _log(self, states: dict[str, str], *, is_ready: bool) -> None:
        """Log changes of this worker's state."""
        if is_ready is self.was_ready:
            return
        self.was_ready = is_ready
        if is_ready:
            logger.warning("Ready again")
        else:
            failed = [name for name in REQUIRED if states[name] == UNAVAILABLE]
            logger.error("Not ready: %s", ", ".join(failed))


def warm_up() -> None:
    """Run every check once, before a worker accepts requests.

    The first checks also open the connection pool. On a busy machine that takes longer than a
    caller of /readyz waits. An unavailable database doesn't keep the worker from starting; /readyz
    reports it.
    """
    deadline = time.monotonic() + WARM_UP_SECONDS
    for check in _start_checks():
        check.wait(deadline - time.monotonic())


def database_is_empty() -> bool:
    """Return whether the warm-up found a database that works but has no tables."""
    return (
        REQUIRED["database"].is_healthy() and not REQUIRED["migrations"].is_healthy() and is_empty()
    )


def _start_checks() -> list[HealthCheckCache]:
    """Start all checks, which run in parallel."""
    checks = [*REQUIRED.values(), *OPTIONAL.values()]
    for check in checks:
        check.refresh()
    return checks


def check_health() -> dict[str, str]:
    _start_checks()
    required = {name: OK if check.is_healthy() else UNAVAILABLE for name, check in REQUIRED.items()}
    optional = {name: OK if check.is_healthy() else DEGRADED for name, check in OPTIONAL.items()}
    states = required | optional
    worst = next((state for state in (UNAVAILABLE, DEGRADED) if state in states.values()), OK)
    return {"status": worst, **states}
