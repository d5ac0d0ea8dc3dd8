"""Error responses that the web worker sends without calling Django's handler."""

import random
import time
from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest

from apikeys.errors import ApiError, unavailable
from apikeys.rest.responses import error_response, hsts_header, rate_limit_headers
from apikeys.throttling import limits
from apikeys.throttling.limits import BucketState
from runtime import ids
from runtime.http.client_ip import client_address
from runtime.http.middleware import choose_request_id
from runtime.logging import formatters
from runtime.logging.access_log import AccessLog, AccessRecord, add_record

# The range to pick from for clients refused because of overload.
RETRY_AFTER_SECONDS = (1, 5)


def raw_error_response(error: ApiError, peer: str, reason: str) -> bytes:
    """Return an HTTP response that closes the connection, for a request that cannot be parsed.

    The connection must close, as it's unknown where the next request begins.
    """
    address = client_address({"REMOTE_ADDR": peer}, 0)
    usage = limits.peek(HttpRequest(), limits.address_bucket(address))
    request_id = ids.request_id()
    formatters.current_request_id.set(request_id)
    _log_refusal(error, request_id, address, reason)
    return _encode(error, request_id, usage, closes=True)


def overload_response(method: str, meta: Mapping[str, str], *, closes: bool) -> bytes:
    """Return an HTTP response with status 503, for a request beyond the worker's capacity.

    It must cost next to nothing: no view, no database, no shared counter.
    """
    address = client_address(meta, settings.TRUSTED_PROXIES)
    request_id = choose_request_id(meta.get("HTTP_X_REQUEST_ID", ""))
    formatters.current_request_id.set(request_id)
    # Spread the retries, or all refused clients would return at the same moment.
    error = unavailable(retry_after=random.randint(*RETRY_AFTER_SECONDS))  # noqa: S311
    _log_refusal(error, request_id, address, "Too many concurrent requests.", method)
    usage = limits.peek_local(limits.address_bucket(address))
    return _encode(error, request_id, usage, closes=closes, has_body=method != "HEAD")


def _log_refusal(
    error: ApiError, request_id: str, address: str, reason: str, method: str = ""
) -> None:
    if AccessLog.is_enabled:
        fields = (request_id, None, None, address, method, "", error.status, 0.0, error.code)
        add_record(AccessRecord(time.time(), "server", *fields, message=reason))


def _encode(
    error: ApiError, request_id: str, usage: BucketState, *, closes: bool, has_body: bool = True
) -> bytes:
    response = error_response(error, request_id)
    headers = {
        **response.headers,
        **rate_limit_headers(usage, response.status_code),
        "X-Request-Id": request_id,
        "Connection": "close" if closes else "keep-alive",
    }
    if hsts := hsts_header():
        headers["Strict-Transport-Security"] = hsts
    lines = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return head + response.content if has_body else head
