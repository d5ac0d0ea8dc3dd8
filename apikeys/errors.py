"""The error codes of the API, and the shape of its error responses.

REFUSALS is append-only, as clients depend on the codes. The errors page and the OpenAPI document
are generated from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from django.conf import settings
from rest_framework.exceptions import APIException

REALM = 'Bearer realm="api"'


@dataclass(frozen=True)
class Refusal:
    status: int
    type: str
    # The default, for errors raised without a message.
    message: str
    # Shown on the errors page.
    cause: str
    cure: str


def _invalid_request(message: str, cause: str, cure: str, status: int = 400) -> Refusal:
    return Refusal(status, "invalid_request_error", message, cause, cure)


def _unauthenticated(message: str, cause: str, cure: str) -> Refusal:
    return Refusal(401, "authentication_error", message, cause, cure)


def _forbidden(message: str, cause: str, cure: str) -> Refusal:
    return Refusal(403, "permission_error", message, cause, cure)


REFUSALS: dict[str, Refusal] = {
    "bad_request": _invalid_request(
        "This is not a request the service can read.",
        "The request breaks the rules of HTTP itself, its Host header names no host of this "
        "service, or its body ended before it was complete.",
        "Use a well-kept HTTP client and the address from this documentation. Look for a proxy "
        "between you and the service that changes requests.",
    ),
    "invalid_json": _invalid_request(
        "The body is not valid JSON.",
        "The body is empty, is not exactly one JSON document in UTF-8, has the same field twice, "
        "holds NaN, Infinity or half a surrogate pair, or is nested deeper than 32 levels.",
        "Let a JSON library write the body instead of joining strings, and send it as UTF-8.",
    ),
    "missing_field": _invalid_request(
        "A required field is missing.",
        "The body is an object, but lacks a field that this operation needs. `param` names it.",
        "Send the field. For POST /v1/validate it is `email`.",
    ),
    "invalid_field": _invalid_request(
        "A field has the wrong type or length.",
        "A field or header has the wrong type or length; `param` names it. It is null when the "
        "body as a whole is not an object.",
        "Send `email` as a string of 1 to 320 characters. An Idempotency-Key has 1 to 255 visible "
        "ASCII characters. A badly written address is no error: it is a result.",
    ),
    "unknown_field": _invalid_request(
        "The request has a field or query parameter that this operation does not take.",
        "The body has a field, or the URL a query parameter, that this operation does not take: "
        "often a typing error. `param` names it, unless the name itself contains a key.",
        "Remove the field or parameter, or correct its name. The API reference lists those that "
        "each operation takes.",
    ),
    "missing_api_key": _unauthenticated(
        "No API key was sent. Send the header: Authorization: Bearer svc_live_…",
        "There is no Authorization header, or it uses another scheme than Bearer. A key in another "
        "header, the URL, a cookie or the body is never accepted. If a key was seen in another "
        "header or in the URL, the message says where, and `details.key_seen_in` is "
        "`x_api_key_header`, `api_key_header`, `http_basic`, `authorization_header` or "
        "`query_string`.",
        "Send the header `Authorization: Bearer $SVC_API_KEY`. Create keys in the dashboard under "
        "Settings, API Keys, Create Key. Replace a key that was sent in a URL: URLs are logged.",
    ),
    "invalid_api_key": _unauthenticated(
        "This is not a valid API key. Keys start with svc_live_ and are 47 characters long.",
        "What was sent as a key does not exist. Often a part of it was cut when it was copied, or "
        "it belongs to another copy of the service.",
        "Compare its beginning and end with the list under Settings, API Keys. If you do not "
        "have the whole key any more, create a new one.",
    ),
    "api_key_revoked": _unauthenticated(
        "This API key was revoked. Use another one, or create one in the dashboard.",
        "Somebody of your account revoked this key, or rotated it without a grace period, or the "
        "account was closed.",
        "Create a key in the dashboard and give it to this server. The list of keys tells when "
        "each was revoked.",
    ),
    "api_key_expired": _unauthenticated(
        "This API key has expired. Use another one, or create one in the dashboard.",
        "The key had a last day, or it was rotated and its grace period is over.",
        "Give the server the new key. Before the next expiry, rotate the key: both work during "
        "the grace period you choose.",
    ),
    "insufficient_credits": Refusal(
        402,
        "billing_error",
        "Your balance does not cover this request. Buy credits or upgrade your plan.",
        "The account has fewer credits than this request costs. `details` tells both numbers.",
        "Buy credits or upgrade the plan in the dashboard; `details` has the links. Sandbox "
        "addresses and replayed requests work at balance 0.",
    ),
    "ip_not_allowed": _forbidden(
        "This API key may not be used from your network.",
        "The key is limited to certain networks, and the request came from another.",
        "Send the request from one of your servers, or change the key's allowed networks in the "
        "dashboard.",
    ),
    "account_suspended": _forbidden(
        "The account of this API key is suspended. Write to support to have it lifted.",
        "The service's staff suspended the account. Keys work again once that is lifted.",
        "Write to support.",
    ),
    "https_required": _forbidden(
        "Send API requests over https:// only. This key travelled unencrypted: replace it.",
        "The request came over plain HTTP, where anybody on the way can read the key.",
        "Use the https:// address, and rotate the key that was sent.",
    ),
    "not_found": _invalid_request(
        "There is no such operation. The API description lists all there are.",
        "The path leads to no operation.",
        "Compare the path with the API reference; all paths begin with /v1.",
        404,
    ),
    "method_not_allowed": _invalid_request(
        "This operation has another method; the Allow header names it.",
        "The path exists, but not with this method.",
        "Use a method that the Allow header of the answer names.",
        405,
    ),
    "not_acceptable": _invalid_request(
        "The service answers in application/json only, which your Accept header excludes.",
        "The Accept header of the request excludes JSON, and the service speaks nothing else.",
        "Send `Accept: application/json`, or no Accept header.",
        406,
    ),
    "length_required": _invalid_request(
        "The body came in pieces without a length. Send a Content-Length header.",
        "A body was sent in chunks through a server that cannot pass such bodies on.",
        "Send the header Content-Length, which HTTP clients do for a body they have whole.",
        411,
    ),
    "request_too_large": _invalid_request(
        "The body is larger than 8 KB.",
        "No operation needs a body larger than 8 KB (8,192 bytes).",
        "Send one address a request.",
        413,
    ),
    "unsupported_media_type": _invalid_request(
        "Send the body as JSON, with the header: Content-Type: application/json",
        "The Content-Type header is missing or names something else than JSON, or the body is "
        "compressed.",
        "Send `Content-Type: application/json`, and the body as it is.",
        415,
    ),
    "idempotency_key_reused": Refusal(
        422,
        "idempotency_error",
        "This Idempotency-Key was used for another address within the last 24 hours.",
        "An Idempotency-Key stands for one request. This one was sent with another address.",
        "Make a new key for each address, and reuse it only to repeat that same request.",
    ),
    "rate_limit_exceeded": Refusal(
        429,
        "rate_limit_error",
        "Too many requests. Wait for the number of seconds in the Retry-After header.",
        "More requests came within a minute than the account, the key or, without a valid key, "
        "the caller's address may send.",
        "Wait for the number of seconds in the Retry-After header, then send the request again. "
        "Keep below the limit by reading X-RateLimit-Remaining.",
    ),
    "internal_error": Refusal(
        500,
        "api_error",
        "Something broke on our side. It is noted; nothing was charged.",
        "A fault of the service. It costs nothing.",
        "Try again after some seconds, with the same Idempotency-Key if you sent one. If it "
        "stays, write to support and name the request_id.",
    ),
    "service_unavailable": Refusal(
        503,
        "api_error",
        "The service cannot answer at the moment. Nothing was charged.",
        "A part that the service needs, such as its database, is unavailable, or there are more "
        "requests than the service can answer. `details.charged` is false if nothing was charged, "
        "and null if the request may have been charged: the database was lost while the charge "
        "was being stored.",
        "Wait for the number of seconds in `details.retry_after`, then send the request again with "
        "the same Idempotency-Key. Without a key, a charge whose response was lost is refunded, "
        "as the page Idempotency describes.",
    ),
}


@dataclass(eq=False)
class ApiError(APIException):
    """Raised in a view under /v1, this becomes the error response."""

    code: str
    message: str = ""
    param: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    # The sandbox simulates it.
    is_sandbox: bool = False

    def __str__(self) -> str:
        return self.code

    @property
    def status(self) -> int:
        return REFUSALS[self.code].status

    def body(self, request_id: str) -> bytes:
        refusal = REFUSALS[self.code]
        return orjson.dumps(
            {
                "error": {
                    "type": refusal.type,
                    "code": self.code,
                    "message": self.message or refusal.message,
                    "param": self.param,
                    "details": self.details,
                    "doc_url": f"{settings.BASE_URL}/docs/errors/#{self.code}",
                    "request_id": request_id,
                }
            }
        )


# Sample values of `param` and `details`, for the sandbox and the OpenAPI document.
SAMPLE_PARAMS = {
    "missing_field": "email",
    "invalid_field": "email",
    "unknown_field": "emial",
    "idempotency_key_reused": "Idempotency-Key",
}
SAMPLE_DETAILS: dict[str, Mapping[str, object]] = {
    "insufficient_credits": {"required": 1, "balance": 0, "top_up_url": "…", "upgrade_url": "…"},
    "rate_limit_exceeded": {
        "limit": 60,
        "window": 60,
        "retry_after": 17,
        "reset": 1_795_000_020,
    },
    "service_unavailable": {"retry_after": 5, "charged": False},
}


def unauthorized(code: str) -> ApiError:
    """Return a 401 with the challenge of RFC 6750, which has an error only if a key was sent."""
    error = "" if code == "missing_api_key" else ', error="invalid_token"'
    return ApiError(code, headers={"WWW-Authenticate": REALM + error})


def unavailable(retry_after: int = 5, *, charged: bool | None = False) -> ApiError:
    """Return a 503. `charged` is None if the charge's outcome is unknown."""
    message = "" if charged is False else _OUTCOME_UNKNOWN
    details = {"retry_after": retry_after, "charged": charged}
    return ApiError("service_unavailable", message, details=details)


_OUTCOME_UNKNOWN = (
    "The database was lost while your request was being recorded, so it may have been charged. "
    "Send it again with the same Idempotency-Key; if you sent none, a charge whose response was "
    "lost is normally refunded within a day."
)
