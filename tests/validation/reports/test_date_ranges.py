"""Date ranges of reports and the charts of their usage."""

import re
from datetime import UTC, date, datetime

import pytest

from validation.reports.charts import draw_chart, round_up
from validation.reports.date_ranges import (
    RangeTooLong,
    Unit,
    last_days,
    last_hours,
    last_months,
    range_of_days,
)

pytestmark = pytest.mark.anywhere

NOW = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)
NO_CALLS = {"deliverable": 0, "risky": 0, "undeliverable": 0, "unknown": 0}


def test_last_hours_end_with_the_current_hour() -> None:
    date_range = last_hours(NOW, 24)
    assert len(date_range.intervals) == 24
    assert date_range.intervals[0] == datetime(2026, 11, 19, 19, tzinfo=UTC)
    assert date_range.intervals[-1] == datetime(2026, 11, 20, 18, tzinfo=UTC)


def test_last_days_end_with_today() -> None:
    date_range = last_days(NOW, 30)
    assert (date_range.unit, date_range.first, date_range.last) == (
        Unit.DAY,
        date(2026, 10, 22),
        date(2026, 11, 20),
    )
    assert len(date_range.intervals) == 30


def test_months_begin_on_their_first_day() -> None:
    date_range = last_months(NOW, 12)
    assert (date_range.first, date_range.last) == (date(2025, 12, 1), date(2026, 11, 20))
    assert date_range.intervals[0] == date(2025, 12, 1)
    assert len(date_range.intervals) == 12


def test_range_that_starts_within_a_month_includes_that_month() -> None:
    date_range = range_of_days(date(2026, 1, 15), date(2026, 3, 2), Unit.MONTH)
    assert date_range.intervals == [date(2026, month, 1) for month in (1, 2, 3)]
    assert date_range.first == date(2026, 1, 15)


@pytest.mark.parametrize(("days", "unit"), [(1, "hour"), (2, "hour"), (3, "day"), (92, "day")])
def test_unit_follows_the_length(days: int, unit: str) -> None:
    assert last_days(NOW, days).unit == unit
    assert last_days(NOW, 93).unit == "month"


def test_too_many_intervals_for_a_chart_are_refused() -> None:
    with pytest.raises(RangeTooLong, match="By hour at most 7 days"):
        last_days(NOW, 8, Unit.HOUR)
    with pytest.raises(RangeTooLong, match="By day at most 92 days"):
        last_days(NOW, 93, Unit.DAY)


@pytest.mark.parametrize(
    ("value", "ceiling"),
    [(0, 1), (1, 1), (2, 2), (3, 5), (6, 10), (10, 10), (11, 20), (999, 1000), (2001, 5000)],
)
def test_scale_ends_with_a_round_number(value: int, ceiling: int) -> None:
    assert round_up(value) == ceiling


def test_verdicts_are_stacked() -> None:
    chart = draw_chart([{**NO_CALLS, "deliverable": 5, "unknown": 5}, NO_CALLS], ["one", "two"])
    assert (chart.width, chart.ceiling) == (20, 10)
    assert chart.layers == [("deliverable", "M1 100v-50h8v50z"), ("unknown", "M1 50v-50h8v50z")]
    assert chart.bars == [(0, "one"), (10, "two")]


def test_no_bar_leaves_the_chart() -> None:
    bars = [{**NO_CALLS, "deliverable": n, "risky": 2 * n, "unknown": 1} for n in range(200)]
    chart = draw_chart(bars, [""] * 200)
    for _, path in chart.layers:
        for bottom, height in re.findall(r"M\S+ (\S+?)v-(\S+?)h", path):
            assert -0.01 <= float(bottom) - float(height) <= float(bottom) <= 100


def test_empty_chart_has_no_layers() -> None:
    assert draw_chart([NO_CALLS], ["none"]).layers == []
    assert draw_chart([], []).ceiling == 1
