from collections.abc import Iterator
from datetime import date

from accounts.models import Account
from credits.models.usage import Source
from runtime.csv_download import Row, escape_formula
from validation.reports.date_ranges import DateRange, Unit
from validation.reports.usage_stats import STACK_ORDER, UsageStats, load_keys, read_usage


def usage_rows(
    account: Account, date_range: DateRange, source: Source | None, **key_filter: object
) -> Iterator[Row]:
    """Yield a row per hour, key and source, or per day for longer units. Times are in UTC."""
    is_hourly = date_range.unit == Unit.HOUR
    unit = Unit.HOUR if is_hourly else Unit.DAY
    groups: dict[tuple[date, int, Source], UsageStats] = {}
    for row in read_usage(account, date_range, unit, "key", **key_filter):
        if source in {None, row.source}:
            day, key_id = row.of
            groups.setdefault((day, key_id or 0, row.source), UsageStats()).add(row)
    keys = load_keys(account, (key_id for _, key_id, _ in groups))
    heading = "hour (UTC)" if is_hourly else "day (UTC)"
    yield [heading, "key", "name", "requests", *STACK_ORDER, "credits", "source"]
    for group in sorted(groups):
        (interval, key_id, used_by), stats = group, groups[group]
        key = keys.get(key_id)
        label = f"{interval:%Y-%m-%d %H:%M}" if is_hourly else f"{interval}"
        key_cells = [key.public_id, escape_formula(key.name)] if key else ["", used_by.label]
        yield [label, *key_cells, stats.requests, *stats.calls.values(), stats.credits, used_by]
