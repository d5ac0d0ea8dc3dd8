"""Django's current time zone stays UTC: queries, emails and downloads depend on it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import TextChoices
from django.utils import dateformat

AREAS = (
    *("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic"),
    *("Australia", "Europe", "Indian", "Pacific"),
)


class DateFormat(TextChoices):
    DAY_FIRST = "dmy", "23 Nov 2026, 18:30"
    MONTH_FIRST = "mdy", "Nov 23, 2026, 6:30 PM"
    ISO = "iso", "2026-11-23 18:30"


def _patterns(day: str, month_day: str, time: str, exact_time: str) -> dict[str, str]:
    comma = " " if day == "Y-m-d" else ", "
    return {
        "DATE_FORMAT": day,
        "MONTH_DAY_FORMAT": month_day,
        "TIME_FORMAT": time,
        "DATETIME_FORMAT": f"{day}{comma}{time}",
        "EXACT_FORMAT": f"{day}{comma}{exact_time}",
    }


PATTERNS = {
    DateFormat.DAY_FIRST: _patterns("j M Y", "j M", "H:i", "H:i:s"),
    DateFormat.MONTH_FIRST: _patterns("M j, Y", "M j", "g:i A", "g:i:s A"),
    DateFormat.ISO: _patterns("Y-m-d", "m-d", "H:i", "H:i:s"),
}


@dataclass(frozen=True)
class DateDisplay:
    zone: tzinfo = UTC
    format: DateFormat = DateFormat.DAY_FIRST


DEFAULT_DISPLAY = DateDisplay()
_current: ContextVar[DateDisplay] = ContextVar("date_display", default=DEFAULT_DISPLAY)


@contextmanager
def use_date_display(display: DateDisplay) -> Iterator[None]:
    token = _current.set(display)
    try:
        yield
    finally:
        _current.reset(token)


def current_zone() -> tzinfo:
    return _current.get().zone


def find_zone(name: str) -> tzinfo:
    # Names without a slash, such as Factory, aren't places.
    if "/" not in name:
        return UTC
    try:
        return ZoneInfo(name)
    # ZoneInfo reads files, which can fail in various ways.
    except (ValueError, OSError, KeyError):
        return UTC


@cache
def zone_choices() -> list[tuple[str, str]]:
    places = [name for name in available_timezones() if name.partition("/")[0] in AREAS]
    return [("UTC", "UTC"), *((name, name.replace("_", " ")) for name in sorted(places))]


def date_format(value: date | datetime, name: str = "DATE_FORMAT") -> str:
    """`name` is a key of PATTERNS."""
    display = _current.get()
    if isinstance(value, datetime):
        value = value.astimezone(display.zone)
    return dateformat.format(value, PATTERNS[display.format][name])


def exact_time(moment: datetime) -> str:
    """Format a time with seconds and offset: 23 Nov 2026, 18:30:05 UTC+1."""
    local = moment.astimezone(current_zone())
    return f"{date_format(local, 'EXACT_FORMAT')} UTC{_describe_offset(local.utcoffset())}"


class LocalDateTimeField(forms.DateTimeField):
    """A time that the user enters and sees in their zone."""

    widget = forms.DateTimeInput({"type": "datetime-local"})

    def prepare_value(self, value: Any) -> Any:
        is_time = isinstance(value, datetime)
        return f"{value.astimezone(current_zone()):%Y-%m-%dT%H:%M}" if is_time else value

    def to_python(self, value: Any) -> datetime | None:
        moment = super().to_python(value)
        # The first and last days of the calendar can't be converted.
        with suppress(OverflowError):
            return moment and moment.replace(tzinfo=current_zone()).astimezone(UTC)
        raise ValidationError(self.error_messages["invalid"], code="invalid")


def _describe_offset(offset: timedelta | None) -> str:
    if not offset:
        return ""
    hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
    sign = "-" if offset < timedelta(0) else "+"
    return f"{sign}{hours}:{minutes:02}" if minutes else f"{sign}{hours}"
