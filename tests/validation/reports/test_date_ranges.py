"""Stretches of time and the charts that are drawn of them."""

import re
from datetime import UTC, date, datetime

import pytest

from validation.reports.charts import draw, round_up
from validation.reports.date_ranges import (
    TooLong,
    Unit,
    last_days,
    last_hours,
    last_months,
    range_of_days,
)

pytestmark = pytest.mark.anywhere

NOW = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)
NOTHING = {"deliverable": 0, "risky": 0, "undeliverable": 0, "unknown": 0}


def test_the_last_hours_end_with_this_one() -> None:
    span = last_hours(NOW, 24)
    assert len(span.pieces) == 24
    assert span.pieces[0] == datetime(2026, 11, 19, 19, tzinfo=UTC)
    assert span.pieces[-1] == datetime(2026, 11, 20, 18, tzinfo=UTC)


def test_the_last_days_end_with_today() -> None:
    span = last_days(NOW, 30)
    assert (span.unit, span.first, span.last) == (Unit.DAY, date(2026, 10, 22), date(2026, 11, 20))
    assert len(span.pieces) == 30


def test_months_begin_on_their_first_day() -> None:
    span = last_months(NOW, 12)
    assert (span.first, span.last) == (date(2025, 12, 1), date(2026, 11, 20))
    assert span.pieces[0] == date(2025, 12, 1)
    assert len(span.pieces) == 12


def test_a_span_that_begins_within_a_month_shows_that_month() -> None:
    span = range_of_days(date(2026, 1, 15), date(2026, 3, 2), Unit.MONTH)
    assert span.pieces == [date(2026, month, 1) for month in (1, 2, 3)]
    assert span.first == date(2026, 1, 15)


@pytest.mark.parametrize(("days", "unit"), [(1, "hour"), (2, "hour"), (3, "day"), (92, "day")])
def test_the_unit_follows_the_length(days: int, unit: str) -> None:
    assert last_days(NOW, days).unit == unit
    assert last_days(NOW, 93).unit == "month"


def test_what_does_not_fit_in_a_chart_is_said() -> None:
    with pytest.raises(TooLong, match="By hour at most 7 days"):
        last_days(NOW, 8, Unit.HOUR)
    with pytest.raises(TooLong, match="By day at most 92 days"):
        last_days(NOW, 93, Unit.DAY)


@pytest.mark.parametrize(
    ("most", "ceiling"),
    [(0, 1), (1, 1), (2, 2), (3, 5), (6, 10), (10, 10), (11, 20), (999, 1000), (2001, 5000)],
)
def test_the_scale_ends_with_a_round_number(most: int, ceiling: int) -> None:
    assert round_up(most) == ceiling


def test_bars_are_stacked_on_each_other() -> None:
    chart = draw([{**NOTHING, "deliverable": 5, "unknown": 5}, NOTHING], ["one", "two"])
    assert (chart.width, chart.ceiling) == (20, 10)
    assert chart.layers == [("deliverable", "M1 100v-50h8v50z"), ("unknown", "M1 50v-50h8v50z")]
    assert chart.bars == [(0, "one"), (10, "two")]


def test_no_bar_leaves_the_chart() -> None:
    bars = [{**NOTHING, "deliverable": n, "risky": 2 * n, "unknown": 1} for n in range(200)]
    chart = draw(bars, [""] * 200)
    for _, path in chart.layers:
        for bottom, tall in re.findall(r"M\S+ (\S+?)v-(\S+?)h", path):
            assert -0.01 <= float(bottom) - float(tall) <= float(bottom) <= 100


def test_a_chart_of_nothing_is_a_chart() -> None:
    assert draw([NOTHING], ["none"]).layers == []
    assert draw([], []).ceiling == 1
