"""How pages show dates and times: in the time zone and the format of the signed-in user.

Django's own current time zone stays UTC, because queries (`TruncDate`, `TruncMonth`), emails, and
downloads depend on it while a page is made. Only these functions, which pages call, convert times.
"""

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
    """Each label is an example."""

    DAY_FIRST = "dmy", "23 Nov 2026, 18:30"
    MONTH_FIRST = "mdy", "Nov 23, 2026, 6:30 PM"
    ISO = "iso", "2026-11-23 18:30"


# Django's names, and EXACT_FORMAT for a time with its seconds.
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


# For visitors, emails, and staff.
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
    """Return the time zone of this name, and UTC if the name is unknown."""
    # Accept places such as Asia/Kolkata. Names without a slash, such as Factory, mean nothing.
    if "/" not in name:
        return UTC
    try:
        return ZoneInfo(name)
    # ZoneInfo reads a file, so an invalid or unknown name raises one of several errors.
    except (ValueError, OSError, KeyError):
        return UTC


@cache
def zone_choices() -> list[tuple[str, str]]:
    """Return the value and label of each time zone that users can choose."""
    places = [name for name in available_timezones() if name.partition("/")[0] in AREAS]
    return [("UTC", "UTC"), *((name, name.replace("_", " ")) for name in sorted(places))]


def date_format(value: date | datetime, name: str = "DATE_FORMAT") -> str:
    """Format a date or time. `name` is one of PATTERNS."""
    display = _current.get()
    if isinstance(value, datetime):
        value = value.astimezone(display.zone)
    return dateformat.format(value, PATTERNS[display.format][name])


def exact_time(moment: datetime) -> str:
    """Format a time to the second, with its offset: 23 Nov 2026, 18:30:05 UTC+1."""
    local = moment.astimezone(current_zone())
    return f"{date_format(local, 'EXACT_FORMAT')} UTC{_describe_offset(local.utcoffset())}"


def _describe_offset(offset: timedelta | None) -> str:
    """Describe the difference to UTC as +1, -3, or +5:30; return nothing without one."""
    if not offset:
        return ""
    hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
    sign = "-" if offset < timedelta(0) else "+"
    return f"{sign}{hours}:{minutes:02}" if minutes else f"{sign}{hours}"
