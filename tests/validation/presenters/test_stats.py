"""The key numbers of the overview and the usage page."""

from datetime import UTC, date, datetime

import pytest

from accounts.presenters.stats import Stat
from credits.models import Wallet
from validation.presenters.stats import overview_stats, usage_page_stats
from validation.reports.date_ranges import last_days
from validation.reports.overview import Overview
from validation.reports.usage_stats import UsageStats


def day(number: int, calls: int) -> UsageStats:
    stats = UsageStats(date(2026, 11, number), credits=calls)
    stats.calls["risky"] = stats.histogram[0] = calls
    return stats


def overview(before: int, since: int) -> Overview:
    days = [day(number, before if number <= 7 else since) for number in range(1, 15)]
    fortnight = last_days(datetime(2026, 11, 14, tzinfo=UTC), 14)
    return Overview(fortnight, days[-1:], days, [], [3, 2, 1], 0, [], [])


def wallet(balance: int, days_left: int | None, held: int = 0) -> Wallet:
    row = Wallet(balance=balance, held=held)
    row.daily_pace = balance / days_left if days_left else 0
    return row


def test_overview_shows_balance_and_usage() -> None:
    balance, day, week, month = overview_stats(overview(2, 1), wallet(1, 3), "requests")
    assert (balance.text, balance.unit, balance.note) == ("1", "credit", "About 3 days left")
    assert balance.values == [3, 2, 1]
    assert (day.label, day.value, day.note) == ("Requests, last 24 hours", 1, "1 credit used")
    assert (week.label, week.value) == ("Requests, last 7 days", 7)
    assert week.note == "\N{MINUS SIGN}50% vs previous 7 days"
    assert week.values == [1] * 7
    assert (month.label, month.note) == ("Requests, last 30 days", "21 credits used")


def test_first_week_has_nothing_to_compare_with() -> None:
    week = overview_stats(overview(0, 2), wallet(5, None), "requests")[2]
    assert week.note == "14 credits used"


def test_overview_shows_held_credits() -> None:
    balance, *_ = overview_stats(overview(2, 1), wallet(0, 0, held=1_200), "requests")
    assert (balance.text, balance.note) == ("0", "No credits left · 1,200 held")


@pytest.mark.parametrize(
    ("value", "text", "is_long"),
    [
        (1_200, "1,200", False),
        (999_999_999, "999,999,999", False),
        (1_000_000_000, "1,000,000,000", True),
        ("over 8,000 ms", "over 8,000 ms", False),
    ],
)
def test_long_numbers_are_marked(value: int | str, text: str, is_long: bool) -> None:
    stat = Stat("Requests", value)
    assert (stat.text, stat.is_long) == (text, is_long)


def test_tile_without_any_number_has_no_sparkline() -> None:
    assert Stat("Requests", 0, values=[0, 0]).sparkline == ""
    assert Stat("Requests", 4, values=[0, 4, 1]).sparkline == "M0 100L50 0L100 75"


def test_usage_page_shows_percentiles() -> None:
    stats = usage_page_stats([day(1, 2), day(2, 3)], "Last 24 hours", "requests")
    assert [(stat.label, stat.text) for stat in stats] == [
        ("Requests, last 24 hours", "5"),
        ("Credits used, last 24 hours", "5"),
        ("Median validation time (p50)", "10 ms"),
        ("95th percentile (p95)", "19 ms"),
    ]


def test_usage_page_without_requests_shows_no_percentiles() -> None:
    stats = usage_page_stats([], "20 Nov 2026", "requests")
    assert [stat.label for stat in stats] == ["Requests, 20 Nov 2026", "Credits used, 20 Nov 2026"]
