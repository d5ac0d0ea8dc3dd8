"""The request log, looked at: filters, pages, and one entry found by what a customer knows of it.

A filter with an index is walked along; others are applied to a stretch of that walk
(runtime/database/pagination.py).
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import Account
from apikeys.models import ApiKey
from runtime.database import pagination
from runtime.database.pagination import Cursor, Page
from runtime.dates import midnight
from validation.models import LogEntry


@dataclass(frozen=True)
class LogQuery:
    """What of the log is looked for; what is empty does not matter."""

    verdict: str = ""
    status: int | None = None
    reason: str = ""
    # The code of a refusal.
    refusal: str = ""
    # A key, or the playground.
    key: ApiKey | None = None
    playground: bool = False
    day: date | None = None
    domain: str = ""
    address_hash: str = ""
    request_id: str = ""

    def walks(self) -> list[Q]:
        """Each has an index; the one that leaves the fewest rows comes first."""
        is_refused = bool(self.refusal or (self.status and self.status != 200))
        walks: list[tuple[Any, Q]] = [
            (self.request_id, Q(request_id=self.request_id)),
            (self.address_hash, Q(address_hash=self.address_hash)),
            (self.domain, Q(domain=self.domain)),
            (self.reason, Q(reason=self.reason)),
            (is_refused, ~Q(status=200)),
            (self.key, Q(key=self.key)),
        ]
        return [condition for is_wanted, condition in walks if is_wanted]

    def others(self) -> list[Q]:
        others: list[tuple[Any, Q]] = [
            (self.status, Q(status=self.status)),
            (self.refusal, Q(refusal=self.refusal)),
            (self.verdict, Q(verdict=self.verdict)),
            (self.playground, Q(key=None)),
        ]
        return [condition for is_wanted, condition in others if is_wanted]


def log_page(account: Account, wanted: LogQuery, before: Cursor | None = None) -> Page[LogEntry]:
    rows = _of_day(LogEntry.objects.of(account), wanted.day)
    walks = wanted.walks()
    walked = rows.filter(*walks[:1]).select_related("key")
    return pagination.paginate(walked, wanted.others() + walks[1:], before)


def latest(account: Account, most: int) -> list[LogEntry]:
    entries = LogEntry.objects.of(account).select_related("key").order_by("-at", "-pk")
    return list(entries[:most])


def find_entry(account: Account, request_id: str, at: datetime) -> LogEntry | None:
    """The address of an entry's page holds what tells it from all others, and no running number."""
    entries = LogEntry.objects.of(account).filter(request_id=request_id, at=at)
    return entries.select_related("key").first()


def has_request(account: Account, request_id: str) -> bool:
    return LogEntry.objects.of(account).filter(request_id=request_id).exists()


def find_result(account: Account, result_id: str) -> LogEntry | None:
    return LogEntry.objects.of(account).with_result(result_id).order_by("at").first()


def _of_day(rows: QuerySet[LogEntry], day: date | None) -> QuerySet[LogEntry]:
    if day is None:
        return rows
    return rows.filter(at__gte=midnight(day), at__lt=midnight(day) + timedelta(days=1))
