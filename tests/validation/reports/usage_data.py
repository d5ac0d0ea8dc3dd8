"""Helpers that create usage and log entries, and read pages."""

import re
from bisect import bisect_left
from datetime import datetime
from html import unescape
from typing import Any

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import UseHour
from credits.models.usage import BUCKET_BOUNDS, BUCKETS
from validation.addresses import address_hash, mask_address
from validation.ids import new_result_id
from validation.models import LogEntry
from validation.models.log_entries import pack_checks


def add_usage(
    account: Account,
    at: datetime,
    calls: int = 1,
    verdict: str = "deliverable",
    *,
    key: ApiKey | None = None,
    duration_ms: int = 5,
    for_list: bool = False,
) -> None:
    hour = at.replace(minute=0, second=0, microsecond=0)
    which = (account.pk, key.pk if key else None, hour, verdict)
    of_lists = calls if for_list else 0
    waited = calls - of_lists
    hit = bisect_left(BUCKET_BOUNDS, duration_ms)
    histogram = (waited if bucket == hit else 0 for bucket in range(len(BUCKETS)))
    counts = (calls, calls, of_lists, of_lists, waited * duration_ms, *histogram)
    UseHour.objects.add_all([(*which, *counts)])


def add_log_entry(
    account: Account, at: datetime, email: str = "jane@shop.example", **fields: Any
) -> Any:
    """Create a log entry without charging for it."""
    domain = email.partition("@")[2]
    defaults = {
        "account": account,
        "at": at,
        "request_id": f"req_{at.timestamp():020.0f}",
        "path": "/v1/validate",
        "status": 200,
        "duration_ms": 7,
        "result_id": new_result_id(),
        "address": mask_address(email, domain),
        "address_hash": address_hash(email),
        "domain": domain,
        "verdict": "deliverable",
        "reason": "domain_accepts_mail",
        "checks": pack_checks({"syntax": True, "null_mx": False}),
        "score": 85,
    }
    return LogEntry.objects.create(**{**defaults, **fields})


def add_refusal(account: Account, at: datetime, status: int, code: str, **fields: Any) -> Any:
    empty = dict.fromkeys(
        ("result_id", "address", "address_hash", "domain", "verdict", "reason"), ""
    )
    return add_log_entry(
        account, at, status=status, refusal=code, score=None, checks=0, **{**empty, **fields}
    )


def read_page(response: Any) -> str:
    """Return the page with collapsed white space and unescaped entities."""
    page = " ".join(response.content.decode().split())
    page = re.sub(r"(<(?:t[dh]|d[dt])(?: [^>]*)?>) ", r"\1", page)
    page = re.sub(r" (?=</(?:t[dh]|d[dt])>)", "", page)
    return unescape(re.sub(r"> <(?=/?(?:t[dhr]|tbody|d[dt]))", "><", page))
