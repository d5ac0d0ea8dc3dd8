"""What the web server refuses before Django sees it, in the shape of every other refusal."""

import random
import time
from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest

from apikeys.errors import ApiError, unavailable
from apikeys.rest.responses import error_response, only_https, rate_limit_headers
from apikeys.throttling import limits
from apikeys.throttling.limits import BucketState
from runtime import ids
from runtime.http.client_ip import client_address
from runtime.http.middleware import choose_request_id
from runtime.logging import formatters
from runtime.logging.access_log import AccessLog, AccessRecord, add_record

# When to come back, for who was turned away.
COME_BACK_SECONDS = (1, 5)


def raw_error_response(error: ApiError, peer: str, reason: str) -> bytes:
    """A whole HTTP answer. The connection ends with it: where a next request begins is unknown."""
    address = client_address({"REMOTE_ADDR": peer}, 0)
    usage = limits.peek(HttpRequest(), limits.address_bucket(address))
    request_id = ids.request_id()
    formatters.request_id.set(request_id)
    _note(error, request_id, address, reason)
    return _written(error, request_id, usage, closes=True)


def overload_response(method: str, meta: Mapping[str, str], *, closes: bool) -> bytes:
    """A whole HTTP answer to who comes when there is too much to do. It must cost next to nothing:
    no view, no database, no counter that others share."""
    address = client_address(meta, settings.TRUSTED_PROXIES)
    request_id = choose_request_id(meta.get("HTTP_X_REQUEST_ID", ""))
    formatters.request_id.set(request_id)
    # Not all at the same moment, or they would meet again.
    error = unavailable(retry_after=random.randint(*COME_BACK_SECONDS))  # noqa: S311
    _note(error, request_id, address, "Too much to do.", method)
    usage = limits.peek_local(limits.address_bucket(address))
    return _written(error, request_id, usage, closes=closes, has_body=method != "HEAD")


def _note(error: ApiError, request_id: str, address: str, reason: str, method: str = "") -> None:
    if AccessLog.is_open:
        known = (request_id, None, None, address, method, "", error.status, 0.0, error.code)
        add_record(AccessRecord(time.time(), "server", *known, message=reason))


def _written(
    error: ApiError, request_id: str, usage: BucketState, *, closes: bool, has_body: bool = True
) -> bytes:
    response = error_response(error, request_id)
    headers = {
        **response.headers,
        **rate_limit_headers(usage, response.status_code),
        "X-Request-Id": request_id,
        "Connection": "close" if closes else "keep-alive",
    }
    if hsts := only_https():
        headers["Strict-Transport-Security"] = hsts
    lines = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return head + response.content if has_body else head
