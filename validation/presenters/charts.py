from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import zip_longest

from django.urls import reverse

from accounts.models import Account
from accounts.presenters.charts import Chart, draw_chart
from credits.models.usage import Source
from runtime.dates import midnight, next_month
from validation.key_filter import PLAYGROUND
from validation.presenters.usage import describe_change, format_count, interval_heading
from validation.reports.date_ranges import DAY, HOUR, DateRange, Unit
from validation.reports.usage_stats import UsageStats, sum_stats
from validation.request_log.filters import time_param

UrlBuilder = Callable[[date], str]


@dataclass(frozen=True)
class ChartRow:
    label: str
    url: str
    stats: UsageStats
    previously: int | None = None


@dataclass(frozen=True)
class UsageChart:
    period: str
    heading: str
    total: UsageStats
    rows: list[ChartRow]
    chart: Chart
    nouns: str
    # Compared with the period before.
    change: str
    previously: int

    @property
    def summary(self) -> str:
        return f"{self.period}: {format_count(self.total.requests, self.nouns)}"


def build_usage_chart(
    stats: Sequence[UsageStats],
    previous: Sequence[UsageStats],
    date_range: DateRange,
    period: str,
    *,
    zone: tzinfo,
    now: datetime,
    urls: UrlBuilder,
    nouns: str,
) -> UsageChart:
    before = [each.requests for each in previous]
    # Without any, there is no line.
    previous_counts = before if any(before) else []
    rows = [
        ChartRow(label, urls(interval), each, count)
        for interval, label, each, count in zip_longest(
            date_range.intervals, date_range.labels(zone, now), stats, previous_counts
        )
    ]
    chart = draw_chart(
        [row.stats.calls for row in rows],
        [describe_bar(row, nouns) for row in rows],
        [row.url for row in rows],
        date_range.axis_labels(zone),
        previous=previous_counts,
    )
    heading = interval_heading(date_range.unit, zone)
    change = describe_change(stats, previous, date_range, now)
    total = sum_stats(stats)
    return UsageChart(period, heading, total, rows, chart, nouns, change, sum(previous_counts))


def describe_bar(row: ChartRow, nouns: str) -> str:
    split = [f"{calls:,} {verdict}" for verdict, calls in row.stats.calls.items() if calls]
    previously = [] if row.previously is None else [f"{row.previously:,} previously"]
    summary = f"{row.label}: {format_count(row.stats.requests, nouns)}"
    return "\n".join([summary, *split, *previously])


def interval_urls(account: Account, date_range: DateRange, params: Mapping[str, str]) -> UrlBuilder:
    """Return what links a bar to its requests, if stored, or the usage of its month.

    `params` are filters of the usage page.
    """
    source = params.get("source")
    key = PLAYGROUND if source == PLAYGROUND else params.get("key")

    def month_url(month: date) -> str:
        since = max(month, date_range.first)
        until = min(next_month(month) - DAY, date_range.last)
        query = {"since": since, "until": until, **params}
        return reverse("validation:show-usage", query=query)

    def requests_url(at: date) -> str:
        start, length = (at, HOUR) if isinstance(at, datetime) else (midnight(at), DAY)
        is_logged = account.log_retention_days and source != Source.LISTS
        if not is_logged or start.date() < account.log_starts_at.date():
            return ""
        times = {"since": time_param(start), "until": time_param(start + length)}
        query = times | ({"key": key} if key else {})
        return reverse("validation:show-requests", query=query)

    return month_url if date_range.unit == Unit.MONTH else requests_url
