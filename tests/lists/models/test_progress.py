"""The speed of a list: the work of the last 30 seconds."""

import pytest

from lists.models.progress import Marks, add_mark, find_speed


def test_marks_are_five_seconds_apart_and_begin_with_the_last_before_the_window() -> None:
    marks: Marks = []
    for second in range(61):
        marks = add_mark(marks, second, 10 * second)
    assert [time for time, _ in marks] == [25, 30, 35, 40, 45, 50, 55, 60]
    assert [time for time, _ in add_mark(marks, 200, 1_000)] == [60, 200]


@pytest.mark.parametrize(
    ("marks", "speed"),
    [
        ([], None),
        ([(0, 0)], None),
        ([(0, 100), (5, 150)], 10),
        ([(0, 0), (5, 150), (20, 600)], 30),
        # A block of domains began again.
        ([(0, 100), (5, 90)], None),
    ],
)
def test_speed_is_known_from_two_marks_on(marks: Marks, speed: float | None) -> None:
    assert find_speed(marks, now=21) == speed


def test_speed_is_forgotten_without_progress() -> None:
    assert find_speed([(0, 100), (5, 150)], now=36) is None
