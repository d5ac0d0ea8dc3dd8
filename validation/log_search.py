"""The request log, looked at: filters, pages, and one entry found by what a customer knows of it.

Pages stay fast however long the log is. Nothing is counted, and a page begins where the one before
ended. A filter with an index is walked along; others are applied to a bounded stretch of that walk,
whose end the page tells, so that one can go on from there.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple, Self

from django.db.models import Q, QuerySet

from accounts.models import Account
from apikeys.models import ApiKey
from credits.periods import midnight
from validation.models import LogEntry
from validation.moments import moment_of, number_of

PAGE = 50
LOOKED_THROUGH = 10_000


class Cursor(NamedTuple):
    """Where a page begins: at this moment, after so many rows of the same moment."""

    at: datetime
    seen: int = 0

    def __str__(self) -> str:
        return f"{number_of(self.at)}-{self.seen}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        number, _, seen = text.partition("-")
        at = moment_of(number)
        plain = seen.isascii() and seen.isdecimal() and len(seen) < 5
        return cls(at, int(seen)) if at and plain else None


@dataclass(frozen=True)
class Wanted:
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


@dataclass(frozen=True)
class LogPage:
    entries: list[LogEntry]
    # Where the next one begins.
    older: Cursor | None = None
    # Nothing older than this was looked at, though there is more.
    looked_back_to: datetime | None = None


def page_of(account: Account, wanted: Wanted, before: Cursor | None = None) -> LogPage:
    rows = _from(_of_day(LogEntry.objects.of(account), wanted.day), before)
    walks, others = wanted.walks(), wanted.others()
    rows = rows.filter(*walks[:1]).order_by("-at", "-pk")
    others += walks[1:]
    end = None
    if others:
        end = rows.values_list("at", flat=True)[LOOKED_THROUGH : LOOKED_THROUGH + 1].first()
        rows = rows.filter(*others, **{"at__gte": end} if end else {})
    seen = before.seen if before else 0
    found = list(rows.select_related("key")[seen : seen + PAGE + 1])
    shown = found[:PAGE]
    if len(found) > PAGE:
        return LogPage(shown, _after(shown, shown[-1].at, before))
    return LogPage(shown, _after(shown, end, before) if end else None, end)


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


def _from(rows: QuerySet[LogEntry], before: Cursor | None) -> QuerySet[LogEntry]:
    return rows.filter(at__lte=before.at) if before else rows


def _after(shown: list[LogEntry], at: datetime, before: Cursor | None) -> Cursor:
    of_this_moment = sum(entry.at == at for entry in shown)
    if before and before.at == at:
        of_this_moment += before.seen
    return Cursor(at, of_this_moment)
