"""Count requests by time and outcome."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from django.db import connections, models, router

from accounts.models import Account
from engine import REASONS, Verdict
from runtime.database.pagination import Page, paginate
from runtime.database.raw_sql import JsonTable
from validation.models import LogEntry
from validation.models.log_entries import COMMON_REASON
from validation.request_log.filters import REFUSED, LogFilter
from validation.request_log.search import find_rows

OTHER = "other"
OUTCOMES = (*(verdict.value for verdict in Verdict), REFUSED, OTHER)
MAX_BARS = 62
READ_LIMIT = 5_000
# In minutes, up to 84 days: requests are kept for ten years at most.
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 40_320, 120_960)
# The verdicts whose reasons all have an index.
INDEXED = (Verdict.RISKY, Verdict.UNDELIVERABLE, Verdict.UNKNOWN)

Bar = tuple[datetime, datetime]
_BARS = JsonTable(start=models.DateTimeField(), stop=models.DateTimeField())


@dataclass(frozen=True)
class Histogram:
    bars: list[Bar]
    counts: list[Counter[str]]
    # Where a limited count stopped.
    counted_back_to: datetime | None = None

    @property
    def total(self) -> Counter[str]:
        return sum(self.counts, Counter())


def cut_bars(start: datetime, end: datetime, zone: tzinfo) -> list[Bar]:
    """Cut a time range into bars that start at round times in the viewer's zone."""
    minutes = next(each for each in STEPS if end - start <= timedelta(minutes=each * MAX_BARS))
    step, local = timedelta(minutes=minutes), start.astimezone(zone).replace(tzinfo=UTC)
    first = start - (local - datetime.fromtimestamp(0, UTC)) % step
    number = -((first - end) // step)
    return [(first + n * step, first + (n + 1) * step) for n in range(number)]


def count_requests(form: LogFilter, now: datetime, zone: tzinfo) -> Histogram:
    account, data = form.account, form.cleaned_data
    start = max(form.starts_at or account.log_starts_at, account.log_starts_at)
    end = max(min(data["until"] or now, now), start + timedelta(minutes=1))
    bars = cut_bars(start, end, zone)
    verdict, status = data["verdict"], data["status"]
    if verdict and status == REFUSED:
        return Histogram(bars, [Counter() for _ in bars])
    if form.filters.keys() - {"verdict", "status"} or status not in ("", REFUSED):
        return _read_requests(form, start, bars)
    counts = _count_all(account, [(max(first, start), min(last, end)) for first, last in bars])
    if chosen := verdict or status:
        counts = [Counter({chosen: each[chosen]}) for each in counts]
    return Histogram(bars, counts)


def _count_all(account: Account, bars: Sequence[Bar]) -> list[Counter[str]]:
    """Count in indexes without reading a row: a million requests take less than 0.1 s."""
    groups: list[Sequence[str]] = [("",), *(tuple(REASONS[verdict]) for verdict in INDEXED)]
    conditions: list[tuple[str, Sequence[str]]] = [("", ()), ("AND NOT status = 200", ())]
    for reasons in groups:
        places = ", ".join(["%s"] * len(reasons))
        # Repeats the index's condition, which SQLite doesn't infer.
        conditions.append((f"AND NOT reason = '{COMMON_REASON}' AND reason IN ({places})", reasons))
    columns = ", ".join(
        f"(SELECT COUNT(*) FROM {LogEntry._meta.db_table} WHERE account_id = %s "  # noqa: S608
        f"AND at >= start AND at < stop {condition})"
        for condition, _ in conditions
    )
    values: list[Any] = [value for _, reasons in conditions for value in (account.pk, *reasons)]
    statement = f"SELECT {columns} FROM {_BARS.table} ORDER BY start"  # noqa: S608
    with connections[router.db_for_read(LogEntry)].cursor() as cursor:
        cursor.execute(statement, [*values, _BARS.value(bars)])
        rows = cursor.fetchall()
    counts = []
    for number, refused, without_verdict, *verdicts in rows:
        count = Counter[str](dict(zip(INDEXED, verdicts, strict=True)))
        count[Verdict.DELIVERABLE] = number - without_verdict - sum(verdicts)
        count[REFUSED], count[OTHER] = refused, without_verdict - refused
        counts.append(count)
    return counts


def _read_requests(form: LogFilter, start: datetime, bars: Sequence[Bar]) -> Histogram:
    """Read the newest requests: these filters have no index, or one without the outcome."""
    rows, filters = find_rows(form, start)
    read: Any = rows.values_list("at", "verdict", "status", named=True)
    page: Page[Any] = paginate(read, filters, page_size=READ_LIMIT)
    first, step = bars[0][0], bars[0][1] - bars[0][0]
    counts: list[Counter[str]] = [Counter() for _ in bars]
    for row in page.entries:
        outcome = row.verdict or (REFUSED if row.status != 200 else OTHER)
        counts[min((row.at - first) // step, len(bars) - 1)][outcome] += 1
    return Histogram(list(bars), counts, page.older and page.older.at)
