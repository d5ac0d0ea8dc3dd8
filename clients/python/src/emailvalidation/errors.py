"""One exception per `type` of the API's errors, and two for calls without a response.

Catch `EmailValidationError` for all of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Optional


class EmailValidationError(Exception):
    """An error of the API. Its `code` is stable, and `doc_url` says how to fix the cause."""

    def __init__(
        self,
        message: str,
        *,
        status: Optional[int] = None,
        code: str = "",
        type: str = "",
        param: Optional[str] = None,
        details: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        doc_url: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.type = type
        self.param = param
        self.details: dict[str, Any] = dict(details or {})
        self.request_id = request_id
        self.doc_url = doc_url

    def __str__(self) -> str:
        parts = [self.message]
        if self.code:
            parts.append(f"({self.status} {self.code}, request {self.request_id})")
        return " ".join(parts)


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
    kind: type[EmailValidationError]
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        kind = EmailValidationError
        if status == 429 or status >= 500:
            kind = RateLimitError if status == 429 else ServerError
        return kind(
            f"The response had the status {status} and wasn't from the API. "
            "A proxy may have sent it: check the base URL.",
            status=status,
            details={"retry_after": headers["retry-after"]} if "retry-after" in headers else None,
            request_id=headers.get("x-request-id"),
        )
    details = error.get("details")
    kind = _BY_TYPE.get(str(error.get("type")), EmailValidationError)
    return kind(
        str(error.get("message") or f"The API refused the request with {status}."),
        status=status,
        code=str(error.get("code") or ""),
        type=str(error.get("type") or ""),
        param=error.get("param"),
        details=details if isinstance(details, dict) else None,
        request_id=error.get("request_id"),
        doc_url=str(error.get("doc_url") or ""),
    )
