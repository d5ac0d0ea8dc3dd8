"""Django's current time zone stays UTC: queries, emails and downloads depend on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

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


PATTERNS = {
    DateFormat.DAY_FIRST: {
        "DATE_FORMAT": "j M Y",
        "MONTH_DAY_FORMAT": "j M",
        "TIME_FORMAT": "H:i",
        "DATETIME_FORMAT": "j M Y, H:i",
        "EXACT_FORMAT": "j M Y, H:i:s",
    },
    DateFormat.MONTH_FIRST: {
        "DATE_FORMAT": "M j, Y",
        "MONTH_DAY_FORMAT": "M j",
        "TIME_FORMAT": "g:i A",
        "DATETIME_FORMAT": "M j, Y, g:i A",
        "EXACT_FORMAT": "M j, Y, g:i:s A",
    },
    DateFormat.ISO: {
        "DATE_FORMAT": "Y-m-d",
        "MONTH_DAY_FORMAT": "m-d",
        "TIME_FORMAT": "H:i",
        "DATETIME_FORMAT": "Y-m-d H:i",
        "EXACT_FORMAT": "Y-m-d H:i:s",
    },
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


def _describe_offset(offset: timedelta | None) -> str:
    if not offset:
        return ""
    hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
    sign = "-" if offset < timedelta(0) else "+"
    return f"{sign}{hours}:{minutes:02}" if minutes else f"{sign}{hours}"
