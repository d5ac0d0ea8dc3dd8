from collections.abc import Generator, Mapping

from django.conf import settings
from django.http import Http404, HttpResponse
from rest_framework.exceptions import NotFound

from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.throttling.limits import WINDOW_SECONDS, BucketState
from runtime.http.streaming import StartedStream
from runtime.json_text import render_json

JSON = "application/json"
COMMON_HEADERS = {
    "Content-Type": JSON,
    "Cache-Control": "no-store",
    # Browsers must not load, run or frame anything.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": settings.PERMISSIONS_POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class ApiResponse(HttpResponse):
    # The middleware logs refusals and crashes.
    _has_been_logged = True

    def __init__(self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None):
        length = {"Content-Length": str(len(body))}
        super().__init__(
            body, status=status, headers={**COMMON_HEADERS, **length, **(headers or {})}
        )


class ApiStream(StartedStream):
    _has_been_logged = True

    def __init__(self, pieces: Generator[bytes], headers: Mapping[str, str]) -> None:
        super().__init__(pieces, headers={**COMMON_HEADERS, **headers})


def json_response(
    document: object, headers: dict[str, str] | None = None, *, status: int = 200
) -> ApiResponse:
    return ApiResponse(render_json(document), status, headers)


def error_response(error: ApiError, request_id: str) -> ApiResponse:
    return ApiResponse(error.body(request_id), error.status, error.headers)


def hsts_header() -> str:
    """Empty if HSTS is off."""
    seconds = settings.SECURE_HSTS_SECONDS
    return f"max-age={seconds}; includeSubDomains; preload" if seconds else ""


def handle_exception(error: Exception, context: Mapping[str, object]) -> ApiResponse | None:
    """Turn exceptions into responses, except crashes."""
    if isinstance(error, Http404 | NotFound):
        error = ApiError("not_found", "Your account has no object with this id.")
    if not isinstance(error, ApiError):
        return None
    call = ApiRequest.of(context["request"]).call
    call.refuse(error)
    return error_response(error, call.request_id)


def rate_limit_headers(
    usage: BucketState, status: int, retry_after: str | None = None
) -> dict[str, str]:
    """Return X-RateLimit and the IETF draft's headers."""
    policy = f'"{usage.policy}"'
    # The sandbox's 429 shows an exhausted bucket.
    is_exhausted = status == 429 and retry_after is None and not usage.refused
    remaining = 0 if is_exhausted else usage.remaining
    headers = {
        "X-RateLimit-Limit": str(usage.limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(usage.reset),
        "RateLimit-Policy": f"{policy};q={usage.limit};w={WINDOW_SECONDS}",
        "RateLimit": f"{policy};r={remaining};t={usage.seconds_left}",
    }
    if status == 429:
        headers["Retry-After"] = retry_after or str(usage.seconds_left)
    return headers
