import logging
import time
from collections.abc import Callable
from functools import lru_cache
from typing import cast

from django.core.exceptions import SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import resolve

from accounts.request import SiteRequest
from apikeys import hooks
from apikeys.errors import REFUSALS, ApiError, unavailable
from apikeys.request import ApiHttpRequest
from apikeys.rest.paths import is_api_path
from apikeys.rest.responses import error_response, hsts_header, rate_limit_headers
from apikeys.throttling import limits, refusal_counts
from runtime.database.raw_sql import UNAVAILABLE, OutcomeUnknown, times_unavailable
from runtime.logging.access_log import AccessLog, AccessRecord, add_record, get_route
from runtime.metrics.client import Counter, initialize

logger = logging.getLogger("api")

authentication_refusals = Counter(
    "emailvalidation_authentication_refusals",
    "API requests refused with a 401, by error code.",
    ("code",),
)
initialize(
    authentication_refusals, [code for code, refusal in REFUSALS.items() if refusal.status == 401]
)

# Logging 429s would turn a flood of requests into a flood of rows. After a 503, the database can't
# be written.
NOT_IN_REQUEST_LOG = (429, 503)


class ApiMiddleware:
    """Handle API requests; pass every other request on.

    The middleware below is for pages: its sessions, cookies and error pages must not reach the API.
    So this middleware resolves the URL and calls the view, as Django's handler would. Every
    response, including the one to a crash, has the documented shape and headers.
    """

    def __init__(self, get_response: Callable[[SiteRequest], HttpResponse]) -> None:
        self.get_response = get_response
        # Matching all URL patterns takes longer than looking up a key.
        self._resolve = lru_cache(maxsize=64)(resolve)
        self._hsts = hsts_header()

    def __call__(self, request: SiteRequest) -> HttpResponseBase:
        if not is_api_path(request.path_info):
            return self.get_response(request)
        started = time.perf_counter()
        api_request = cast(ApiHttpRequest, request)
        api_request.usage = api_request.verdict = None
        api_request.key = api_request.known_key = None
        api_request.is_sandbox = api_request.in_request_log = False
        response = self._get_response(api_request)
        for name, value in self._rate_limit_headers(api_request, response.status_code).items():
            response.headers[name] = value
        if self._hsts and request.is_secure():
            response.headers["Strict-Transport-Security"] = self._hsts
        if api_request.refusal and api_request.known_key and not api_request.is_sandbox:
            key = api_request.known_key
            refusal_counts.count_refusal(key.account_id, key, api_request.refusal)
        seconds = time.perf_counter() - started
        request.in_access_log = True
        if AccessLog.is_enabled:
            add_record(_access_record(api_request, response.status_code, seconds))
        if response.status_code == 401 and not api_request.is_sandbox:
            authentication_refusals.labels(api_request.refusal).inc()
        if (
            api_request.key
            and not api_request.in_request_log
            and response.status_code not in NOT_IN_REQUEST_LOG
        ):
            duration = round(seconds * 1000)
            status, key = response.status_code, api_request.key
            for handle in hooks.on_api_response:
                handle(request=api_request, key=key, status=status, duration_ms=duration)
        return response

    def _get_response(self, request: ApiHttpRequest) -> HttpResponseBase:
        try:
            # Raises DisallowedHost if ALLOWED_HOSTS doesn't contain the Host header.
            request.get_host()
            request.resolver_match = match = self._resolve(request.path_info)
            response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        except SuspiciousOperation:
            return self._refuse(request, ApiError("bad_request"))
        except UNAVAILABLE as error:
            times_unavailable.labels("api").inc()
            logger.error("The database is unavailable", exc_info=error)
            charged = None if isinstance(error, OutcomeUnknown) else False
            return self._refuse(request, unavailable(charged=charged))
        # Clients get the documented error; the application log gets the traceback's locations.
        except Exception as error:
            logger.error("Uncaught exception", exc_info=error)
            got_request_exception.send(sender=type(self), request=request)
            return self._refuse(request, ApiError("internal_error"))
        return response

    @staticmethod
    def _refuse(request: ApiHttpRequest, error: ApiError) -> HttpResponseBase:
        request.refusal = error.code
        return error_response(error, request.id)

    @staticmethod
    def _rate_limit_headers(request: ApiHttpRequest, status: int) -> dict[str, str]:
        """Return the headers, from the address's bucket if the view consumed none."""
        usage = request.usage or limits.peek(request, limits.address_bucket(request.ip))
        return rate_limit_headers(usage, status)


def _access_record(request: ApiHttpRequest, status: int, seconds: float) -> AccessRecord:
    key = request.known_key
    return AccessRecord(
        time.time(),
        "api",
        request.id,
        key.account.public_id if key else None,
        key.public_id if key else None,
        request.ip,
        request.method or "",
        get_route(request.resolver_match),
        status,
        seconds,
        request.refusal,
        request.is_sandbox,
        request.verdict,
    )
