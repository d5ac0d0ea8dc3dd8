"""One exception per `type` of the API's errors, and two for calls without a response.

Catch `EmailValidationError` for all of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Optional


@dataclass(eq=False, repr=False)
class EmailValidationError(Exception):
    """An error of the API. Its `code` is stable, and `doc_url` says how to fix the cause."""

    message: str
    status: Optional[int] = None
    code: str = ""
    type: str = ""
    param: Optional[str] = None
    details: dict[str, Any] = field(default_factory=dict)
    request_id: Optional[str] = None
    doc_url: str = ""

    def __str__(self) -> str:
        if not self.request_id:
            return self.message
        return f"{self.message} ({self.status} {self.code}, request {self.request_id})"


class AuthenticationError(EmailValidationError):
    """401: the key is missing, unknown, revoked or expired."""


class BillingError(EmailValidationError):
    """402: the balance or a limit of credits is too low."""


class PermissionDeniedError(EmailValidationError):
    """403: the key lacks a scope, or the account or the network isn't allowed."""


class InvalidRequestError(EmailValidationError):
    """400, 404, 410 and others: the request can't work as it is."""


class ConflictError(EmailValidationError):
    """409: the object's state doesn't allow it."""


class IdempotencyError(EmailValidationError):
    """422: the idempotency key was used for another request."""


class RateLimitError(EmailValidationError):
    """429: wait for `retry_after` seconds."""

    @property
    def retry_after(self) -> float:
        return read_seconds(self.details.get("retry_after"), 1.0)


class ServerError(EmailValidationError):
    """500, 502 and 503: our fault, or a proxy's."""


class ConnectionFailed(EmailValidationError):
    """The API couldn't be reached, or its response was cut off."""


class DeadlineExceeded(EmailValidationError):
    """The call's time was over."""


_NOT_FROM_API = (
    "The response had the status {status} and wasn't from the API. "
    "A proxy may have sent it: check the base URL."
)
_BY_TYPE: dict[str, type[EmailValidationError]] = {
    "authentication_error": AuthenticationError,
    "billing_error": BillingError,
    "permission_error": PermissionDeniedError,
    "invalid_request_error": InvalidRequestError,
    "conflict_error": ConflictError,
    "idempotency_error": IdempotencyError,
    "rate_limit_error": RateLimitError,
    "api_error": ServerError,
}


def read_seconds(value: Any, default: float) -> float:
    """Read a wait, which proxies also write as the date when it ends."""
    with suppress(ValueError):
        return max(0.0, float(str(value)))
    with suppress(TypeError, ValueError):
        return max(0.0, parsedate_to_datetime(str(value)).timestamp() - time.time())
    return default


def error_from_response(status: int, headers: Mapping[str, str], body: Any) -> EmailValidationError:
    """Return the API's error, or one for a proxy's response in another format."""
    error = body.get("error") if isinstance(body, dict) else None
    error = error if isinstance(error, dict) else {}
    details = error.get("details")
    details = dict(details) if isinstance(details, dict) else {}
    if "retry-after" in headers:
        details.setdefault("retry_after", headers["retry-after"])
    by_status = ServerError if status >= 500 else EmailValidationError
    kind = RateLimitError if status == 429 else by_status
    return _BY_TYPE.get(str(error.get("type")), kind)(
        str(error.get("message") or _NOT_FROM_API.format(status=status)),
        status=status,
        code=str(error.get("code") or ""),
        type=str(error.get("type") or ""),
        param=error.get("param"),
        details=details,
        request_id=error.get("request_id") or headers.get("x-request-id"),
        doc_url=str(error.get("doc_url") or ""),
    )
