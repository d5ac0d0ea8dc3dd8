"""A moment as a number that can stand in an address, exact to the microsecond. Pure."""

from datetime import UTC, date, datetime, time, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MOST_DIGITS = 17


def to_microseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def from_microseconds(text: str) -> datetime | None:
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        return None
    return _EPOCH + int(text) * _MICROSECOND


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
