"""Date ranges of reports, and the labels of their charts."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from validation.reports.date_ranges import (
    DateRange,
    Unit,
    last_days,
    last_hours,
    last_months,
    range_of_days,
)

pytestmark = pytest.mark.anywhere

NOW = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("date_range", "count", "first", "last"),
    [
        (last_hours(NOW, 24), 24, NOW.replace(day=19, hour=19, minute=0), NOW.replace(minute=0)),
        (last_days(NOW, 30), 30, date(2026, 10, 22), date(2026, 11, 20)),
        (last_months(NOW, 12), 12, date(2025, 12, 1), date(2026, 11, 1)),
    ],
)
def test_last_interval_is_the_current_one(
    date_range: DateRange, count: int, first: date, last: date
) -> None:
    assert len(date_range.intervals) == count
    assert (date_range.intervals[0], date_range.intervals[-1]) == (first, last)


def test_range_that_starts_within_a_month_includes_that_month() -> None:
    date_range = range_of_days(date(2026, 1, 15), date(2026, 3, 2), Unit.MONTH)
    assert date_range.intervals == [date(2026, month, 1) for month in (1, 2, 3)]
    assert date_range.first == date(2026, 1, 15)


@pytest.mark.parametrize(("days", "unit"), [(1, "hour"), (2, "hour"), (3, "day"), (92, "day")])
def test_unit_follows_the_length(days: int, unit: str) -> None:
    assert last_days(NOW, days).unit == unit
    assert last_days(NOW, 93).unit == "month"


@pytest.mark.parametrize(
    ("days", "labels"),
    [
        (7, ["14 Nov", "15 Nov", "16 Nov", "17 Nov", "18 Nov", "19 Nov", "20 Nov"]),
        (30, ["26 Oct", "31 Oct", "5 Nov", "10 Nov", "15 Nov", "20 Nov"]),
        (90, ["6 Sep", "21 Sep", "6 Oct", "21 Oct", "5 Nov", "20 Nov"]),
    ],
)
def test_days_below_a_chart_end_with_today(days: int, labels: list[str]) -> None:
    assert [*last_days(NOW, days).axis_labels(UTC).values()] == labels


def test_months_below_a_chart_contain_the_year() -> None:
    labels = last_months(NOW, 13).axis_labels(UTC)
    assert labels == {0: "Nov 2025", 3: "Feb 2026", 6: "May 2026", 9: "Aug 2026", 12: "Nov 2026"}


def test_hours_below_a_chart_are_round_in_the_viewers_time_zone() -> None:
    hours = last_hours(NOW, 24)
    utc = ["20:00", "20 Nov", "04:00", "08:00", "12:00", "16:00"]
    assert [*hours.axis_labels(UTC).values()] == utc
    kolkata = ["04:30", "08:30", "12:30", "16:30", "20:30"]
    assert [*hours.axis_labels(ZoneInfo("Asia/Kolkata")).values()][1:] == kolkata


def test_hours_of_a_week_are_labeled_at_midnight() -> None:
    labels = last_days(NOW, 7, Unit.HOUR).axis_labels(UTC)
    assert [*labels] == [*range(0, 7 * 24, 24)]
    assert labels[0] == "14 Nov"


@pytest.mark.parametrize(
    ("date_range", "first", "last"),
    [
        (last_days(NOW, 7), date(2026, 11, 7), date(2026, 11, 13)),
        (last_hours(NOW, 24), date(2026, 11, 18), date(2026, 11, 19)),
        (last_months(NOW, 12), date(2024, 12, 1), date(2025, 11, 30)),
    ],
)
def test_period_before_is_as_long_and_ends_where_the_range_begins(
    date_range: DateRange, first: date, last: date
) -> None:
    before = date_range.previous(NOW.date())
    assert before and (before.first, before.last) == (first, last)
    assert len(before.intervals) == len(date_range.intervals)
    assert date_range.count_finished(NOW) == len(date_range.intervals) - 1


@pytest.mark.parametrize(
    "date_range",
    [
        range_of_days(date(2026, 1, 15), date(2026, 3, 2), Unit.MONTH),
        range_of_days(date(2026, 11, 1), date(2026, 12, 2)),
        range_of_days(date(2025, 10, 23), date(2025, 10, 24), Unit.HOUR),
    ],
    ids=["part of a month", "ends in the future", "hours before it were deleted"],
)
def test_some_ranges_have_no_period_before(date_range: DateRange) -> None:
    assert date_range.previous(NOW.date()) is None
