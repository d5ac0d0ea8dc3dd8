import logging
import time
from collections.abc import Callable
from functools import lru_cache

from django.core.exceptions import SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import HttpResponse
from django.urls import resolve

from apikeys import hooks
from apikeys.errors import REFUSALS, ApiError, unavailable
from apikeys.models import count_refusal
from apikeys.request import ApiCall, ApiHttpRequest
from apikeys.rest.paths import is_api_path
from apikeys.rest.responses import ApiResponse, error_response, hsts_header, rate_limit_headers
from apikeys.throttling import limits
from runtime.database.raw_sql import UNAVAILABLE, OutcomeUnknown, times_unavailable
from runtime.logging.access_log import AccessLog, add_record_of
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

# A flood of 429s must not become rows. After a 503, the database can't be written.
NOT_IN_REQUEST_LOG = (429, 503)


class ApiMiddleware:
    """Handle API requests as Django's handler would, above the pages' middleware.

    Sessions, cookies and error pages must not reach the API.
    """

    def __init__(self, get_response: Callable[[ApiHttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        # Matching all patterns takes longer than finding a key.
        self._resolve = lru_cache(maxsize=64)(resolve)
        self._hsts = hsts_header()

    def __call__(self, request: ApiHttpRequest) -> HttpResponse:
        if not is_api_path(request.path_info):
            return self.get_response(request)
        started = time.perf_counter()
        call = request.call = ApiCall(request.id, request.ip)
        response = self._get_response(request)
        self._set_headers(request, response)
        seconds = time.perf_counter() - started
        request.in_access_log = True
        status = response.status_code
        if AccessLog.is_enabled:
            record = call.access_record(request, at=time.time(), status=status, seconds=seconds)
            add_record_of(response, record)
        if call.refusal and not call.is_sandbox:
            if key := call.sent_key:
                count_refusal(key.account_id, key, call.refusal)
            if status == 401:
                authentication_refusals.labels(call.refusal).inc()
        key = call.valid_key
        if key and not call.is_in_request_log and status not in NOT_IN_REQUEST_LOG:
            for handle in hooks.on_api_response:
                handle(request=request, key=key, status=status, duration_ms=round(seconds * 1000))
        return response

    def _get_response(self, request: ApiHttpRequest) -> ApiResponse:
        try:
            # Raises DisallowedHost.
            request.get_host()
            request.resolver_match = match = self._resolve(request.path_info)
            response: ApiResponse = match.func(request, *match.args, **match.kwargs)
        except SuspiciousOperation:
            return self._refuse(request, ApiError("bad_request"))
        except UNAVAILABLE as error:
            times_unavailable.labels("api").inc()
            logger.error("The database is unavailable", exc_info=error, extra={"request": request})
            charged = None if isinstance(error, OutcomeUnknown) else False
            return self._refuse(request, unavailable(charged=charged))
        except Exception as error:
            got_request_exception.send(sender=type(self), request=request)
            logger.error("Uncaught exception", exc_info=error, extra={"request": request})
            return self._refuse(request, ApiError("internal_error"))
        return response

    @staticmethod
    def _refuse(request: ApiHttpRequest, error: ApiError) -> ApiResponse:
        request.call.refuse(error)
        return error_response(error, request.call.request_id)

    def _set_headers(self, request: ApiHttpRequest, response: ApiResponse) -> None:
        # It consumed from no bucket if it failed before the throttle.
        bucket = request.call.rate_limit or limits.peek(
            request, limits.address_bucket(request.call.ip)
        )
        retry_after = response.get("Retry-After")
        for name, value in rate_limit_headers(bucket, response.status_code, retry_after).items():
            response[name] = value
        if self._hsts and request.is_secure():
            response["Strict-Transport-Security"] = self._hsts
