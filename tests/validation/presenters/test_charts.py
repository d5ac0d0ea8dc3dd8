"""What the bars of charts say, and where they lead."""

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine

from accounts.models import Account
from validation.presenters.charts import build_usage_chart, interval_urls
from validation.reports.date_ranges import DateRange, Unit, last_days, last_hours, last_months
from validation.reports.usage_stats import UsageStats

NOW = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)


def stats(calls: int, verdict: str = "risky") -> UsageStats:
    usage = UsageStats(credits=calls)
    usage.calls[verdict] = calls
    return usage


def url_of(account: Account, date_range: DateRange, interval: date, **params: str) -> str:
    with time_machine.travel(NOW):
        return interval_urls(account, date_range, params)(interval)


def test_chart_has_a_row_per_interval_and_their_total() -> None:
    usage = build_usage_chart(
        [stats(number) for number in range(7)],
        [stats(10) for _ in range(7)],
        last_days(NOW, 7),
        "Last 7 days",
        zone=UTC,
        now=NOW,
        urls=lambda interval: f"/{interval}",
        nouns="requests",
    )
    assert usage.change == "75% fewer than in the previous 7 days, without today"
    assert usage.previously == 70
    assert usage.summary == "Last 7 days: 21 requests"
    assert (usage.rows[-1].label, usage.rows[-1].stats.requests) == ("Fri 20 Nov", 6)
    assert usage.chart.bars[-1].url == "/2026-11-20"
    assert usage.heading == "Day (UTC)"


@pytest.mark.parametrize(
    ("interval", "since", "until"),
    [
        (date(2026, 11, 19), "2026-11-19T00%3A00", "2026-11-20T00%3A00"),
        (datetime(2026, 11, 19, 23, tzinfo=UTC), "2026-11-19T23%3A00", "2026-11-20T00%3A00"),
    ],
)
def test_day_and_hour_lead_to_their_requests(interval: date, since: str, until: str) -> None:
    date_range = last_hours(NOW, 24) if isinstance(interval, datetime) else last_days(NOW, 7)
    url = url_of(Account(), date_range, interval, key="playground")
    assert url == f"/validation/requests/?since={since}&until={until}&key=playground"


def test_day_without_a_request_log_leads_nowhere() -> None:
    account = Account(log_days=3)
    assert url_of(account, last_days(NOW, 7), NOW.date() - timedelta(days=3))
    assert url_of(account, last_days(NOW, 7), NOW.date() - timedelta(days=4)) == ""
    assert url_of(Account(log_days=0), last_days(NOW, 7), NOW.date()) == ""


def test_month_leads_to_its_usage_within_the_range() -> None:
    date_range = last_months(NOW, 3, Unit.MONTH)
    october = url_of(Account(), date_range, date(2026, 10, 1))
    assert october == "/validation/usage/?since=2026-10-01&until=2026-10-31"
    november = url_of(Account(), date_range, date(2026, 11, 1))
    assert november == "/validation/usage/?since=2026-11-01&until=2026-11-20"
