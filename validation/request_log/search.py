"""The most selective filter scans an index, and the others filter its rows."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from accounts.models import Account
from apikeys.models import ApiKey
from engine import Verdict
from runtime.database import pagination
from runtime.database.pagination import Cursor, Page
from validation.models import LogEntry, Probe
from validation.models.log_entries import COMMON_REASON, LogEntryQuerySet


@dataclass(frozen=True)
class LogQuery:
    verdict: str = ""
    status: int | None = None
    is_refused: bool = False
    reason: str = ""
    refusal: str = ""
    key: ApiKey | None = None
    playground: bool = False
    since: datetime | None = None
    # Exclusive.
    until: datetime | None = None
    domain: str = ""
    address_hash: str = ""
    request_id: str = ""
    batch_id: str = ""

    def indexed_conditions(self) -> list[Q]:
        """Return the filters that have an index, the most selective first."""
        is_refused = bool(self.is_refused or self.refusal or self.status not in (None, 200))
        # Repeats the index's condition, which SQLite doesn't infer.
        is_rare = ~Q(reason=COMMON_REASON)
        conditions: list[tuple[object, Q]] = [
            (self.request_id, Q(request_id=self.request_id)),
            (self.address_hash, Q(address_hash=self.address_hash)),
            (self.domain, Q(domain=self.domain)),
            (self.reason not in ("", COMMON_REASON), Q(is_rare, reason=self.reason)),
            (is_refused, ~Q(status=200)),
            (self.key, Q(key=self.key)),
        ]
        return [condition for value, condition in conditions if value]

    def unindexed_conditions(self) -> list[Q]:
        conditions: list[tuple[object, Q]] = [
            (self.status, Q(status=self.status)),
            (self.refusal, Q(refusal=self.refusal)),
            (self.verdict, Q(verdict=self.verdict)),
            (self.reason == COMMON_REASON, Q(reason=COMMON_REASON)),
            (self.playground, Q(key=None)),
        ]
        return [condition for value, condition in conditions if value]


def log_page(
    account: Account,
    query: LogQuery,
    before: Cursor | None = None,
    *,
    page_size: int = pagination.PAGE_SIZE,
) -> Page[LogEntry]:
    rows, filters = find_rows(account, query)
    return pagination.paginate(rows.select_related("key"), filters, before, page_size=page_size)


def find_rows(account: Account, query: LogQuery) -> tuple[LogEntryQuerySet, list[Q]]:
    """Return the rows of an index scan, and the filters that apply to them."""
    rows = LogEntry.objects.retained_for(account, query.since, query.until)
    if query.batch_id:
        rows = rows.of_batch(query.batch_id)
    indexed = query.indexed_conditions()
    return rows.filter(*indexed[:1]), query.unindexed_conditions() + indexed[1:]


def latest_entries(account: Account, limit: int) -> list[LogEntry]:
    entries = LogEntry.objects.retained_for(account).select_related("key").order_by("-at", "-pk")
    return mark_pending(list(entries[:limit]))


def find_entry(account: Account, request_id: str, at: datetime) -> LogEntry | None:
    entries = LogEntry.objects.retained_for(account).filter(request_id=request_id, at=at)
    found = mark_pending(list(entries.select_related("key")[:1]))
    return found[0] if found else None


def mark_pending(entries: list[LogEntry]) -> list[LogEntry]:
    """Mark and return the entries: some mailbox checks wait for a mail server."""
    unknown = [entry.result_id for entry in entries if entry.verdict == Verdict.UNKNOWN]
    if unknown:
        waiting = Probe.objects.waiting().filter(result_id__in=unknown)
        pending = set(waiting.values_list("result_id", flat=True))
        for entry in entries:
            entry.is_pending = entry.result_id in pending
    return entries


def find_result(account: Account, result_id: str) -> LogEntry | None:
    return LogEntry.objects.retained_for(account).with_result(result_id).order_by("at").first()
