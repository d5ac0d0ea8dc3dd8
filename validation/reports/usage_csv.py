"""Usage as lines of a table for a spreadsheet."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from accounts.models import Account
from credits.wallet import totals
from runtime.csv_download import Row, escape_formula
from validation.reports.charts import LAYERS
from validation.reports.date_ranges import DateRange, Unit
from validation.reports.usage_stats import UsageStats, keys_of


def usage_lines(account: Account, span: DateRange, **only: Any) -> Iterator[Row]:
    """A line an hour or day and key, in UTC; months are given by day."""
    is_hourly = span.unit == Unit.HOUR
    lines = list(_lines(account, span, only))
    known = keys_of(account, (key_id for _, key_id, _ in lines))
    when = "hour (UTC)" if is_hourly else "day (UTC)"
    yield [when, "key", "name", "requests", *LAYERS, "credits"]
    for of, key_id, line in lines:
        key = known.get(key_id or 0)
        moment = f"{of:%Y-%m-%d %H:%M}" if is_hourly else f"{of}"
        named = [key.public_id, escape_formula(key.name)] if key else ["", "Playground"]
        yield [moment, *named, line.requests, *line.calls.values(), line.credits]


def _lines(
    account: Account, span: DateRange, only: dict[str, Any]
) -> Iterator[tuple[date | datetime, int | None, UsageStats]]:
    if span.unit == Unit.HOUR:
        used = totals.use_by_hour_and_key(account, span.start, span.end, **only)
    else:
        used = totals.use_by_day_and_key(account, span.first, span.last, **only)
    lines: dict[tuple[Any, int | None], UsageStats] = {}
    for one in used:
        lines.setdefault(one.of, UsageStats()).add(one)
    for (of, key_id), line in sorted(lines.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        yield of, key_id, line
