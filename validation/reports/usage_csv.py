"""Usage as rows of a CSV file."""

from collections.abc import Iterator
from datetime import date, datetime

from accounts.models import Account
from credits.wallet import totals
from runtime.csv_download import Row, escape_formula
from validation.reports.charts import STACK_ORDER
from validation.reports.date_ranges import DateRange, Unit
from validation.reports.usage_stats import UsageStats, load_keys


def usage_rows(account: Account, date_range: DateRange, **key_filter: object) -> Iterator[Row]:
    """Yield a row per key and hour, or per key and day if the unit is a day or a month. In UTC."""
    is_hourly = date_range.unit == Unit.HOUR
    groups = list(_sum_by_interval_and_key(account, date_range, key_filter))
    keys = load_keys(account, (key_id for _, key_id, _ in groups))
    heading = "hour (UTC)" if is_hourly else "day (UTC)"
    yield [heading, "key", "name", "requests", *STACK_ORDER, "credits"]
    for interval, key_id, stats in groups:
        key = keys.get(key_id or 0)
        label = f"{interval:%Y-%m-%d %H:%M}" if is_hourly else f"{interval}"
        key_cells = [key.public_id, escape_formula(key.name)] if key else ["", "Playground"]
        yield [label, *key_cells, stats.requests, *stats.calls.values(), stats.credits]


def _sum_by_interval_and_key(
    account: Account, date_range: DateRange, key_filter: dict[str, object]
) -> Iterator[tuple[date | datetime, int | None, UsageStats]]:
    rows: Iterator[totals.UsageTotal[tuple[date, int | None]]]
    if date_range.unit == Unit.HOUR:
        rows = totals.usage_by_hour_and_key(account, date_range.start, date_range.end, **key_filter)
    else:
        rows = totals.usage_by_day_and_key(account, date_range.first, date_range.last, **key_filter)
    groups: dict[tuple[date, int | None], UsageStats] = {}
    for used in rows:
        groups.setdefault(used.of, UsageStats()).add(used)
    for (interval, key_id), stats in sorted(
        groups.items(), key=lambda group: (group[0][0], group[0][1] or 0)
    ):
        yield interval, key_id, stats
