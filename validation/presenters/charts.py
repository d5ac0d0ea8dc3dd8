from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from urllib.parse import urlencode

from django.urls import reverse

from accounts.models import Account
from accounts.presenters.charts import Chart, draw_chart
from credits.models.usage import Source
from runtime.dates import next_month
from validation.key_filter import PLAYGROUND
from validation.presenters.usage import REQUESTS, format_count, interval_heading
from validation.reports.date_ranges import DAY, DateRange, Unit
from validation.reports.usage_stats import UsageStats, sum_stats

UrlBuilder = Callable[[date], str]


@dataclass(frozen=True)
class ChartRow:
    label: str
    url: str
    stats: UsageStats


@dataclass(frozen=True)
class UsageChart:
    period: str
    heading: str
    total: UsageStats
    rows: list[ChartRow]
    chart: Chart
    nouns: str

    @property
    def summary(self) -> str:
        return f"{self.period}: {format_count(self.total.requests, self.nouns)}"


def build_usage_chart(
    stats: Sequence[UsageStats],
    date_range: DateRange,
    period: str,
    *,
    zone: tzinfo,
    now: datetime,
    urls: UrlBuilder,
    nouns: str = REQUESTS,
) -> UsageChart:
    rows = [
        ChartRow(label, urls(interval), each)
        for interval, label, each in zip(
            date_range.intervals, date_range.labels(zone, now), stats, strict=True
        )
    ]
    chart = draw_chart(
        [row.stats.calls for row in rows],
        [describe_bar(row.label, row.stats, nouns) for row in rows],
        [row.url for row in rows],
        date_range.axis_labels(zone),
    )
    heading = interval_heading(date_range.unit, zone)
    return UsageChart(period, heading, sum_stats(stats), rows, chart, nouns)


def describe_bar(label: str, stats: UsageStats, nouns: str = REQUESTS) -> str:
    split = [f"{calls:,} {verdict}" for verdict, calls in stats.calls.items() if calls]
    return "\n".join([f"{label}: {format_count(stats.requests, nouns)}", *split])


def interval_urls(account: Account, date_range: DateRange, params: Mapping[str, str]) -> UrlBuilder:
    """Return what links a bar to the requests of its day, if stored, or the usage of its month.

    `params` are filters of the usage page.
    """
    source = params.get("source")
    key = PLAYGROUND if source == PLAYGROUND else params.get("key")

    def month_url(month: date) -> str:
        since = max(month, date_range.first)
        until = min(next_month(month) - DAY, date_range.last)
        return _page("validation:show-usage", {"since": since, "until": until, **params})

    def day_url(at: date) -> str:
        day = at.date() if isinstance(at, datetime) else at
        is_logged = account.log_retention_days and source != Source.LISTS
        if not is_logged or day < account.log_starts_at.date():
            return ""
        return _page("validation:show-requests", {"day": day, **({"key": key} if key else {})})

    return month_url if date_range.unit == Unit.MONTH else day_url


def _page(name: str, params: Mapping[str, object]) -> str:
    return f"{reverse(name)}?{urlencode(params)}"
