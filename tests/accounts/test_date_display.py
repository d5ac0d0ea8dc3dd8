"""Dates and times as pages show them."""

from datetime import UTC, date, datetime

import pytest
from django.core.exceptions import ValidationError
from django.template import engines

from accounts.date_display import (
    DateDisplay,
    DateFormat,
    LocalDateTimeField,
    current_zone,
    date_format,
    exact_time,
    find_zone,
    use_date_display,
    zone_choices,
)

EVENING = datetime(2026, 11, 23, 18, 30, 5, tzinfo=UTC)


@pytest.mark.parametrize("choice", DateFormat)
def test_label_of_each_format_is_an_example_of_it(choice: DateFormat) -> None:
    with use_date_display(DateDisplay(UTC, choice)):
        assert date_format(EVENING, "DATETIME_FORMAT") == choice.label


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "23 Nov 2026, 18:30:05 UTC"),
        ("Europe/London", "23 Nov 2026, 18:30:05 UTC"),
        ("Europe/Berlin", "23 Nov 2026, 19:30:05 UTC+1"),
        ("America/Sao_Paulo", "23 Nov 2026, 15:30:05 UTC-3"),
        ("Asia/Kolkata", "24 Nov 2026, 00:00:05 UTC+5:30"),
        ("Pacific/Marquesas", "23 Nov 2026, 09:00:05 UTC-9:30"),
    ],
)
def test_exact_time_has_the_offset_of_its_zone(zone: str, shown: str) -> None:
    with use_date_display(DateDisplay(find_zone(zone))):
        assert exact_time(EVENING) == shown


def test_entered_time_is_in_the_zone() -> None:
    field, entered = LocalDateTimeField(), "2026-11-24T00:00"
    with use_date_display(DateDisplay(find_zone("Asia/Kolkata"))):
        moment = field.clean(entered)
        assert moment == datetime(2026, 11, 23, 18, 30, tzinfo=UTC)
        assert field.prepare_value(moment) == entered
        with pytest.raises(ValidationError):
            field.clean("0001-01-01T00:00")


def test_display_ends_with_its_request() -> None:
    with use_date_display(DateDisplay(find_zone("Asia/Kolkata"))):
        assert str(current_zone()) == "Asia/Kolkata"
    assert current_zone() == UTC


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "Mars/Olympus", "a/" * 5_000, "\0/"])
def test_unknown_zone_is_utc(name: str) -> None:
    assert find_zone(name) == UTC


def test_every_choice_is_a_zone() -> None:
    names = [name for name, _ in zone_choices()]
    assert names[0] == "UTC"
    assert {"Europe/Berlin", "America/New_York", "Asia/Kolkata"} < set(names)
    assert all(str(find_zone(name)) == name for name in names)


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ("day|date", "Nov 23, 2026"),
        ("at|date", "Nov 24, 2026"),
        ('at|date:"DATETIME_FORMAT"', "Nov 24, 2026, 12:00 AM"),
        ('day|date:"MONTH_DAY_FORMAT"', "Nov 23"),
        # Formats with a pattern of their own don't depend on the user.
        ('day|date:"F Y"', "November 2026"),
        ('at|date:"Y-m-d H:i"', "2026-11-23 18:30"),
        ("nothing|date", ""),
    ],
)
def test_templates_use_the_format_of_the_user(filters: str, shown: str) -> None:
    template = engines["django"].from_string(f"{{{{ {filters} }}}}")
    with use_date_display(DateDisplay(find_zone("Asia/Kolkata"), DateFormat.MONTH_FIRST)):
        text = template.render({"day": date(2026, 11, 23), "at": EVENING, "nothing": None})
    assert text == shown
