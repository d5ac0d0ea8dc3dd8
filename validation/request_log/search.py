"""The most selective filter scans an index, and the others filter its rows."""

from datetime import datetime

from django.db.models import Q

from accounts.models import Account
from engine import Verdict
from runtime.database import pagination
from runtime.database.pagination import Cursor, Page
from validation.models import LogEntry, Probe
from validation.models.log_entries import LogEntryQuerySet
from validation.request_log.filters import LogFilter


def log_page(
    form: LogFilter, before: Cursor | None = None, *, page_size: int = pagination.PAGE_SIZE
) -> Page[LogEntry]:
    rows, filters = find_rows(form, form.starts_at)
    return pagination.paginate(rows.select_related("key"), filters, before, page_size=page_size)


def find_rows(form: LogFilter, since: datetime | None) -> tuple[LogEntryQuerySet, list[Q]]:
    """Return the rows of an index scan, and the filters that apply to them."""
    until, batch = form.cleaned_data["until"], form.cleaned_data["batch"]
    rows = LogEntry.objects.retained_for(form.account, since, until)
    if batch:
        rows = rows.of_batch(batch)
    indexed = form.indexed_conditions()
    return rows.filter(*indexed[:1]), form.unindexed_conditions() + indexed[1:]


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
