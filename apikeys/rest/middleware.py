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
from apikeys.errors import REFUSALS, ApiError, unavailable
from apikeys.request import ApiHttpRequest
from apikeys.rest.paths import is_api_path
from apikeys.rest.responses import error_response, only_https, rate_limit_headers
from apikeys.throttling import limits, refusal_counts
from runtime import hooks
from runtime.database.raw_sql import UNAVAILABLE, OutcomeUnknown, times_unavailable
from runtime.logging.access_log import AccessLog, AccessRecord, add_record, route_of
from runtime.metrics.registry import Counter

logger = logging.getLogger("api")

unknown_callers = Counter(
    "authentication_refusals",
    "Requests of the API without a valid key, by the code of the error.",
    ("code",),
    at_first=[code for code, refusal in REFUSALS.items() if refusal.status == 401],
)

# Answers that become no row: too many requests, and a database that is away.
UNTOLD = (429, 503)


class ApiMiddleware:
    """The walk of an API request ends here: the middleware below is for pages, and their sessions,
    cookies and error pages must not reach the API.

    So this resolves the URL and calls the view itself, as Django's handler would at the end of the
    walk. Whatever happens, the answer is of the one shape and carries the headers.
    """

    def __init__(self, get_response: Callable[[SiteRequest], HttpResponse]) -> None:
        self.get_response = get_response
        # To ask all patterns takes longer than to read a key, and the same few paths are asked for.
        self._resolve = lru_cache(maxsize=64)(resolve)
        self._only_https = only_https()

    def __call__(self, request: SiteRequest) -> HttpResponseBase:
        if not is_api_path(request.path_info):
            return self.get_response(request)
        started = time.perf_counter()
        api_request = cast(ApiHttpRequest, request)
        api_request.usage = api_request.verdict = None
        api_request.key = api_request.known_key = None
        api_request.is_sandbox = api_request.in_request_log = False
        response = self._answer(api_request)
        for name, value in self._limit_headers(api_request, response.status_code).items():
            response.headers[name] = value
        if self._only_https and request.is_secure():
            response.headers["Strict-Transport-Security"] = self._only_https
        if api_request.refusal and api_request.known_key and not api_request.is_sandbox:
            known = api_request.known_key
            refusal_counts.count_refusal(known.account_id, known, api_request.refusal)
        seconds = time.perf_counter() - started
        request.in_access_log = True
        if AccessLog.is_open:
            add_record(_answer(api_request, response.status_code, seconds))
        if response.status_code == 401 and not api_request.is_sandbox:
            unknown_callers.add(api_request.refusal)
        if (
            api_request.key
            and not api_request.in_request_log
            and response.status_code not in UNTOLD
        ):
            duration = round(seconds * 1000)
            told = {"request": api_request, "key": api_request.key, "duration_ms": duration}
            hooks.call("ON_API_ANSWER", status=response.status_code, **told)
        return response

    def _answer(self, request: ApiHttpRequest) -> HttpResponseBase:
        try:
            # Raises when the Host header names none of ours.
            request.get_host()
            request.resolver_match = match = self._resolve(request.path_info)
            response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        except SuspiciousOperation:
            return self._refuse(request, ApiError("bad_request"))
        except UNAVAILABLE as error:
            times_unavailable.add("api")
            logger.error("The database does not answer", exc_info=error)
            charged = None if isinstance(error, OutcomeUnknown) else False
            return self._refuse(request, unavailable(charged=charged))
        # The outermost fence: a caller gets the one shape, and the log the places of the crash.
        except Exception as error:
            logger.error("Crash", exc_info=error)
            got_request_exception.send(sender=type(self), request=request)
            return self._refuse(request, ApiError("internal_error"))
        return response

    @staticmethod
    def _refuse(request: ApiHttpRequest, error: ApiError) -> HttpResponseBase:
        request.refusal = error.code
        return error_response(error, request.id)

    @staticmethod
    def _limit_headers(request: ApiHttpRequest, status: int) -> dict[str, str]:
        """What left before anybody was authenticated shows its address's bucket, unspent."""
        usage = request.usage or limits.peek(request, limits.address_bucket(request.ip))
        return rate_limit_headers(usage, status)


def _answer(request: ApiHttpRequest, status: int, seconds: float) -> AccessRecord:
    key = request.known_key
    return AccessRecord(
        time.time(),
        "api",
        request.id,
        key.account.public_id if key else None,
        key.public_id if key else None,
        request.ip,
        request.method or "",
        route_of(request.resolver_match),
        status,
        seconds,
        request.refusal,
        request.is_sandbox,
        request.verdict,
    )
