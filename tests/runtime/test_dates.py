from datetime import UTC, date, datetime, timedelta

import pytest

from runtime.dates import from_microseconds, midnight, next_month, previous_month, to_microseconds


@pytest.mark.parametrize(
    ("day", "before", "after"),
    [
        (date(2026, 1, 1), date(2025, 12, 1), date(2026, 2, 1)),
        (date(2026, 1, 31), date(2025, 12, 1), date(2026, 2, 1)),
        (date(2026, 3, 31), date(2026, 2, 1), date(2026, 4, 1)),
        (date(2026, 12, 1), date(2026, 11, 1), date(2027, 1, 1)),
    ],
)
def test_months_begin_on_their_first_day(day: date, before: date, after: date) -> None:
    assert (previous_month(day), next_month(day)) == (before, after)


def test_midnight_is_the_start_of_the_day_in_utc() -> None:
    assert midnight(date(2026, 11, 22)) == datetime(2026, 11, 22, tzinfo=UTC)


def test_timestamp_survives_the_round_trip_through_a_url() -> None:
    at = datetime(2026, 11, 22, 6, 0, 0, 123_457, UTC) + timedelta(microseconds=1)
    assert from_microseconds(str(to_microseconds(at))) == at


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", "\u0661", "9" * 18, "x"])
def test_text_that_is_not_a_timestamp_is_ignored(text: str) -> None:
    assert from_microseconds(text) is None
