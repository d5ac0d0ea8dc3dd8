"""Answer /healthz (the process responds) and /readyz (it can work).

Any monitor may poll them: they need no known host, HTTPS, session or key, and reveal only each
check's state.
"""

import logging
import math
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpResponse

from accounts.engine import get_engine
from accounts.request import SiteRequest
from apikeys.errors import ApiError
from apikeys.rest.responses import ApiResponse, error_response
from apikeys.throttling.limits import counters_are_reachable
from config.errors import RETRY_AFTER
from engine import DOMAIN_DATA
from runtime.database.applied_migrations import has_missing_migrations, is_empty
from runtime.database.timeouts import query_timeout
from runtime.health_check_cache import HealthCheckCache
from runtime.http.request import Middleware
from runtime.json_text import render_json

logger = logging.getLogger(__name__)

OK, DEGRADED, UNAVAILABLE = "ok", "degraded", "unavailable"
# /readyz responds within two seconds.
DATABASE_WAIT_SECONDS, OTHER_WAIT_SECONDS = 1.5, 1.0
# Longer, because a late result still serves the next call.
DATABASE_TIMEOUT = 2.0
RESOLVER_TIMEOUT = 0.5
WARM_UP_SECONDS = 10.0


def _check_database(check: Callable[[Any], bool]) -> bool:
    query_timeout.set(DATABASE_TIMEOUT)
    try:
        return check(connection)
    finally:
        # Django's connections are per thread.
        connection.close()


# Without these, nothing works.
REQUIRED = {
    "database": HealthCheckCache(
        lambda: _check_database(lambda database: database.is_available()),
        timeout=DATABASE_WAIT_SECONDS,
        healthy_ttl=1,
        unhealthy_ttl=1,
    ),
    # Once true, never checked again.
    "migrations": HealthCheckCache(
        lambda: _check_database(lambda database: not has_missing_migrations(database)),
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
        lambda: get_engine().resolver.trust.check(RESOLVER_TIMEOUT),
        timeout=OTHER_WAIT_SECONDS,
        healthy_ttl=10,
        unhealthy_ttl=10,
    ),
}


class HealthMiddleware(Middleware):
    was_ready = True

    def __call__(self, request: SiteRequest) -> HttpResponse:
        if request.path_info not in {"/healthz", "/readyz"}:
            return self.get_response(request)
        response = self._get_response(request)
        # Polls would fill the logs.
        request.in_access_log = True
        response._has_been_logged = True  # type: ignore[attr-defined]
        return response

    def _get_response(self, request: SiteRequest) -> HttpResponse:
        if request.method not in {"GET", "HEAD"}:
            error = ApiError("method_not_allowed", headers={"Allow": "GET, HEAD"})
            return error_response(error, request.id)
        if request.path_info == "/healthz":
            return ApiResponse(render_json({"status": OK}))
        states = check_health()
        is_ready = states["status"] != UNAVAILABLE
        if is_ready and not self.was_ready:
            logger.warning("Ready again")
        elif self.was_ready and not is_ready:
            failed = [name for name in REQUIRED if states[name] == UNAVAILABLE]
            logger.error("Not ready: %s", ", ".join(failed))
        self.was_ready = is_ready
        release = {"version": settings.VERSION, "commit": settings.COMMIT or None}
        body = render_json({**states, **release, "domain_data": DOMAIN_DATA.version})
        if is_ready:
            return ApiResponse(body)
        return ApiResponse(body, 503, {"Retry-After": str(RETRY_AFTER)})


def warm_up() -> None:
    """Run every check once before a worker accepts requests, and open the connection pool.

    The worker starts even if the database is unavailable.
    """
    deadline = time.monotonic() + WARM_UP_SECONDS
    for check in _start_checks():
        check.wait(deadline - time.monotonic())


def database_is_empty() -> bool:
    return (
        REQUIRED["database"].is_healthy() and not REQUIRED["migrations"].is_healthy() and is_empty()
    )


def _start_checks() -> list[HealthCheckCache]:
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
