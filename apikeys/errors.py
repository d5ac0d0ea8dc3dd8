import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import orjson
from django.conf import settings
from django.utils import timezone
from rest_framework.exceptions import APIException

from apikeys.refusals import REFUSALS, ApiRefusal

__all__ = [
    "REFUSALS",
    "SAMPLE_DETAILS",
    "SAMPLE_PARAMS",
    "ApiError",
    "ApiRefusal",
    "daily_limit_exceeded",
    "limit_exceeded",
    "unauthorized",
    "unavailable",
]

REALM = 'Bearer realm="api"'


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


SAMPLE_PARAMS = {
    "missing_field": "email",
    "invalid_field": "email",
    "unknown_field": "emial",
    "batch_larger_than_limit": "emails",
    "confirmation_required": "column",
    "idempotency_key_reused": "Idempotency-Key",
    "mailbox_checks_unavailable": "check",
    "max_credits_exceeded": "max_credits",
}
SAMPLE_DETAILS: dict[str, Mapping[str, object]] = {
    "insufficient_scope": {"required": "lists:write"},
    "batch_larger_than_limit": {"limit": 60},
    "confirmation_required": {"rows": 1_000, "not_address": 980},
    "invalid_state": {"state": "completed"},
    "list_expired": {"expired_at": "2026-12-20T18:30:00.123Z"},
    "list_too_large": {"limit": 10_000},
    "part_conflict": {"part": 3},
    "too_many_lists": {"limit": 20},
    "too_many_webhooks": {"limit": 10},
    "insufficient_credits": {"required": 1, "balance": 0, "top_up_url": "…", "upgrade_url": "…"},
    "key_credit_limit_reached": {
        "required": 1,
        "limit": 5_000,
        "used": 5_000,
        "held": 0,
        "remaining": 0,
        "resets_at": "2026-12-01T00:00:00Z",
        "key_url": "…",
    },
    "plan_limit_reached": {
        "limit": 20,
        "resets_at": "2026-11-21T00:00:00Z",
        "upgrade_url": "…",
    },
    "max_credits_exceeded": {"required": 48_120, "max_credits": 40_000},
    "rate_limit_exceeded": {
        "limit": 60,
        "window": 60,
        "retry_after": 17,
        "reset": 1_795_000_020,
    },
    "service_unavailable": {"retry_after": 5, "charged": False},
}


def unauthorized(code: str) -> ApiError:
    """Return a 401 with RFC 6750's challenge, which has an error only if a key was sent."""
    error = "" if code == "missing_api_key" else ', error="invalid_token"'
    return ApiError(code, headers={"WWW-Authenticate": REALM + error})


def daily_limit_exceeded(what: str, *, limit: int, ends: datetime) -> ApiError:
    """Return a 429 for a limit per 24 hours."""
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
