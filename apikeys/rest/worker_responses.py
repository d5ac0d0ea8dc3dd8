import random
import time
from wsgiref.types import StartResponse, WSGIEnvironment

from django.conf import settings
from django.http import HttpRequest

from apikeys.errors import ApiError, unavailable
from apikeys.rest.responses import ApiResponse, error_response, hsts_header, rate_limit_headers
from apikeys.throttling import limits
from apikeys.throttling.limits import BucketState
from runtime import ids
from runtime.http.client_ip import client_address
from runtime.http.middleware import choose_request_id
from runtime.logging import formatters
from runtime.logging.access_log import AccessLog, AccessRecord, add_record

RETRY_AFTER_SECONDS = (1, 5)


def raw_error_response(error: ApiError, peer: str, reason: str, method: str = "") -> bytes:
    """Close the connection: where the next request begins is unknown."""
    address = client_address({"REMOTE_ADDR": peer}, 0)
    usage = limits.peek(HttpRequest(), limits.address_bucket(address))
    response = _response(error, ids.request_id(), usage)
    _log_refusal(response, error, address, reason)
    lines = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in response.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return head if method == "HEAD" else head + response.content


def refuse_overload(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """Send a 503 at almost no cost: no view, database or shared counter."""
    address = client_address(environ, settings.TRUSTED_PROXIES)
    # Or all refused clients would return together.
    error = unavailable(retry_after=random.randint(*RETRY_AFTER_SECONDS))  # noqa: S311
    usage = limits.peek_local(limits.address_bucket(address))
    response = _response(error, choose_request_id(environ.get("HTTP_X_REQUEST_ID", "")), usage)
    method = environ["REQUEST_METHOD"]
    _log_refusal(response, error, address, "Too many concurrent requests.", method)
    start_response(f"{response.status_code} {response.reason_phrase}", [*response.items()])
    return [response.content]


def _response(error: ApiError, request_id: str, usage: BucketState) -> ApiResponse:
    response = error_response(error, request_id)
    for name, value in rate_limit_headers(usage, response.status_code).items():
        response[name] = value
    response["X-Request-Id"] = request_id
    if hsts := hsts_header():
        response["Strict-Transport-Security"] = hsts
    return response


def _log_refusal(
    response: ApiResponse, error: ApiError, address: str, reason: str, method: str = ""
) -> None:
    request_id = response.headers["X-Request-Id"]
    formatters.current_request_id.set(request_id)
    if AccessLog.is_enabled:
        fields = (request_id, None, None, address, method, "", error.status, 0.0, error.code)
        add_record(AccessRecord(time.time(), "server", *fields, message=reason))
