"""Convert and calculate dates in UTC, without any I/O."""

from datetime import UTC, date, datetime, time, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MAX_DIGITS = 17


def to_microseconds(at: datetime) -> int:
    """Return a timestamp as a number that fits in a URL and loses no precision."""
    return (at - _EPOCH) // _MICROSECOND


def from_microseconds(text: str) -> datetime | None:
    """Parse a number made by `to_microseconds`; return None for any other text."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        return None
    return _EPOCH + int(text) * _MICROSECOND


def midnight(day: date) -> datetime:
    """Return the start of a day in UTC."""
    return datetime.combine(day, time.min, UTC)


def days_lookup(field: str, since: date | None, until: date | None) -> dict[str, datetime]:
    """Return filter arguments for times from one day to another, which an index can use."""
    lookups: dict[str, datetime] = {}
    if since:
        lookups[f"{field}__gte"] = midnight(since)
    if until:
        lookups[f"{field}__lt"] = midnight(until) + timedelta(days=1)
    return lookups


def next_month(first: date) -> date:
    """Return the first day of the month after the given day's month."""
    return (first.replace(day=1) + timedelta(days=31)).replace(day=1)


def previous_month(first: date) -> date:
    """Return the first day of the month before the given day's month."""
    return (first.replace(day=1) - timedelta(days=1)).replace(day=1)
