"""What every answer under /v1 is made of, whoever sends it: a view, the middleware, the worker."""

from datetime import UTC, datetime
from typing import Any

import orjson
from django.conf import settings
from django.http import Http404, HttpResponse
from django.http.response import ResponseHeaders
from rest_framework.exceptions import NotFound

from apikeys.errors import ApiError
from apikeys.request import http_request
from apikeys.throttling.limits import WINDOW_SECONDS, BucketState

JSON = "application/json"
ON_EVERY_ANSWER = {
    "Content-Type": JSON,
    "Cache-Control": "no-store",
    # An answer is data: a browser that is led to one may load, run and frame nothing for it.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": settings.PERMISSIONS_POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class ApiHeaders(ResponseHeaders):
    """All of them are ours and ASCII, and the web server refuses a line break in one. Django would
    look through each once more, which is a good part of what a refusal costs."""

    def __setitem__(self, name: Any, value: Any) -> None:
        self._store[name.lower()] = (name, value)

    def items(self) -> Any:
        return self._store.values()


class ApiResponse(HttpResponse):
    def __init__(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None):
        super().__init__(body, status=status, content_type=JSON)
        self.headers = ApiHeaders(
            {**ON_EVERY_ANSWER, "Content-Length": str(len(body)), **(headers or {})}
        )


def json_response(document: Any, headers: dict[str, str] | None = None) -> ApiResponse:
    return ApiResponse(render(document), headers=headers)


def render(document: Any) -> bytes:
    return orjson.dumps(document, default=_moment, option=orjson.OPT_PASSTHROUGH_DATETIME)


def _moment(value: Any) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} has no form in our JSON.")
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def error_response(error: ApiError, request_id: str) -> ApiResponse:
    return ApiResponse(error.body(request_id), error.status, error.headers)


def only_https() -> str:
    """HSTS, for answers over HTTPS; empty where there is none."""
    seconds = settings.SECURE_HSTS_SECONDS
    return f"max-age={seconds}; includeSubDomains; preload" if seconds else ""


def handle_exception(error: Exception, context: dict[str, Any]) -> ApiResponse | None:
    """For Django REST framework. What is no refusal is a crash, which the middleware answers."""
    if isinstance(error, Http404 | NotFound):
        error = ApiError("not_found", "There is nothing with this id in your account.")
    if not isinstance(error, ApiError):
        return None
    request = http_request(context["request"])
    request.refusal = error.code
    return error_response(error, request.id)


def rate_limit_headers(usage: BucketState, status: int) -> dict[str, str]:
    """The customer's X-RateLimit fields, and the IETF draft's from the same numbers."""
    policy = f'"{usage.policy}"'
    headers = {
        "X-RateLimit-Limit": str(usage.limit),
        "X-RateLimit-Remaining": str(usage.remaining),
        "X-RateLimit-Reset": str(usage.reset),
        "RateLimit-Policy": f"{policy};q={usage.limit};w={WINDOW_SECONDS}",
        "RateLimit": f"{policy};r={usage.remaining};t={usage.seconds_left}",
    }
    if status == 429:
        headers["Retry-After"] = str(usage.seconds_left)
    return headers
