"""Charts of usage: what each bar says and where it leads, and the table below them. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from urllib.parse import urlencode

from django.template.defaultfilters import pluralize
from django.urls import reverse

from accounts.models import Account
from runtime.dates import next_month
from validation.presenters.usage import interval_heading
from validation.reports.charts import Chart, draw_chart
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

    @property
    def summary(self) -> str:
        return f"{self.period}: {format_requests(self.total.requests)}"


def build_usage_chart(
    stats: Sequence[UsageStats],
    date_range: DateRange,
    period: str,
    *,
    zone: tzinfo,
    now: datetime,
    urls: UrlBuilder,
) -> UsageChart:
    rows = [
        ChartRow(label, urls(interval), each)
        for interval, label, each in zip(
            date_range.intervals, date_range.labels(zone, now), stats, strict=True
        )
    ]
    chart = draw_chart(
        [row.stats.calls for row in rows],
        [describe_bar(row.label, row.stats) for row in rows],
        [row.url for row in rows],
        date_range.axis_labels(zone),
    )
    heading = interval_heading(date_range.unit, zone)
    return UsageChart(period, heading, sum_stats(stats), rows, chart)


def format_requests(number: int) -> str:
    return f"{number:,} request{pluralize(number)}"


def describe_bar(label: str, stats: UsageStats) -> str:
    """Return the interval with its requests, and a line per verdict."""
    split = [f"{calls:,} {verdict}" for verdict, calls in stats.calls.items() if calls]
    return "\n".join([f"{label}: {format_requests(stats.requests)}", *split])


def interval_urls(account: Account, date_range: DateRange, params: Mapping[str, str]) -> UrlBuilder:
    """Return what gives the page behind a bar: the requests of its day, or the usage of its month.

    `params` are filters of both pages. A day that the request log no longer has leads nowhere.
    """

    def month_url(month: date) -> str:
        since = max(month, date_range.first)
        until = min(next_month(month) - DAY, date_range.last)
        return _page("validation:show-usage", {"since": since, "until": until, **params})

    def day_url(at: date) -> str:
        day = at.date() if isinstance(at, datetime) else at
        if not account.log_retention_days or day < account.log_starts_at.date():
            return ""
        return _page("validation:show-requests", {"day": day, **params})

    return month_url if date_range.unit == Unit.MONTH else day_url


def _page(name: str, params: Mapping[str, object]) -> str:
    return f"{reverse(name)}?{urlencode(params)}"
