import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import orjson
from django.conf import settings
from django.utils import timezone
from rest_framework.exceptions import APIException

REALM = 'Bearer realm="api"'


@dataclass(frozen=True)
class ApiRefusal:
    status: int
    type: str
    message: str
    # For the errors page.
    cause: str
    cure: str
    # Of sample responses.
    param: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


_TABLE = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text())
REFUSALS = {code: ApiRefusal(**values) for code, values in _TABLE.items()}


@dataclass(eq=False)
class ApiError(APIException):
    """Raised in a view under /v1, it becomes the response."""

    code: str
    message: str = ""
    param: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    # Whether the sandbox simulates it.
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


def unauthorized(code: str) -> ApiError:
    """Return a 401 with RFC 6750's challenge, which has an error only if a key was sent."""
    error = "" if code == "missing_api_key" else ', error="invalid_token"'
    return ApiError(code, headers={"WWW-Authenticate": REALM + error})


def daily_limit_exceeded(what: str, *, limit: int, ends: datetime) -> ApiError:
    return limit_exceeded(f"{what} in 24 hours", limit=limit, window=timedelta(days=1), ends=ends)


def limit_exceeded(what: str, *, limit: int, window: timedelta, ends: datetime) -> ApiError:
    """Return a 429. `what`: "take 5 samples per day"."""
    wait = max(1, math.ceil((ends - timezone.now()).total_seconds()))
    return ApiError(
        "rate_limit_exceeded",
        f"You can {what}. Try again at {ends:%H:%M} UTC on {ends:%B} {ends.day}.",
        details={
            "limit": limit,
            "window": int(window.total_seconds()),
            "retry_after": wait,
            "reset": int(ends.timestamp()),
        },
        headers={"Retry-After": str(wait)},
    )


def unavailable(retry_after: int = 5, *, charged: bool | None = False) -> ApiError:
    """Return a 503. `charged` is None if it is unknown."""
    message = "" if charged is False else _OUTCOME_UNKNOWN
    details = {"retry_after": retry_after, "charged": charged}
    return ApiError("service_unavailable", message, details=details)


_OUTCOME_UNKNOWN = (
    "The connection to the database was lost while your request was being recorded, so it may have "
    "been charged. Retry with the same Idempotency-Key; if you sent none, a charge whose response "
    "was lost is normally refunded within a day."
)
