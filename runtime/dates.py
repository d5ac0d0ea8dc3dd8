from datetime import UTC, date, datetime, time, timedelta

from django.utils import timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MAX_DIGITS = 17


def to_microseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def from_microseconds(text: str) -> datetime | None:
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        return None
    return _EPOCH + int(text) * _MICROSECOND


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def seconds_since(moment: datetime | None) -> float:
    return max(0.0, (timezone.now() - moment).total_seconds()) if moment else 0.0


def days_lookup(field: str, since: date | None, until: date | None) -> dict[str, datetime]:
    lookups: dict[str, datetime] = {}
    if since:
        lookups[f"{field}__gte"] = midnight(since)
    if until:
        lookups[f"{field}__lt"] = midnight(until) + timedelta(days=1)
    return lookups


def next_month(first: date) -> date:
    return (first.replace(day=1) + timedelta(days=31)).replace(day=1)


def previous_month(first: date) -> date:
    return (first.replace(day=1) - timedelta(days=1)).replace(day=1)
