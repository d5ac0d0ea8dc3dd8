"""Stretches of time that are looked at: from when to when, and in which pieces. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class Unit(StrEnum):
    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


# More pieces than these are too many to be seen in a chart.
MOST_DAYS = {Unit.HOUR: 7, Unit.DAY: 92, Unit.MONTH: 2 * 366}


# Hours are kept so long: credits.wallet.totals.HOURS_KEPT, less the day on which they go.
HOURS_GO_AFTER = timedelta(days=395)


class TooOld(ValueError):
    def __init__(self) -> None:
        super().__init__("Hours are kept for 13 months: look at these days by day.")


class TooLong(ValueError):
    def __init__(self, unit: Unit) -> None:
        super().__init__(f"By {unit} at most {MOST_DAYS[unit]:,} days fit in one chart.")


@dataclass(frozen=True)
class DateRange:
    """Whole days (UTC), or hours; the end is the first moment that is no longer in it."""

    unit: Unit
    start: datetime
    end: datetime

    @property
    def first(self) -> date:
        return self.start.date()

    @property
    def last(self) -> date:
        return (self.end - HOUR).date()

    @property
    def pieces(self) -> list[date | datetime]:
        return list(self._hours() if self.unit == Unit.HOUR else self._days())

    def names(self, zone: tzinfo, now: datetime) -> list[str]:
        """What people call the pieces; hours in their own zone. The year is said where it is not
        this one, and the distance to UTC where clocks were changed meanwhile."""
        if self.unit == Unit.MONTH:
            return [f"{piece:%b %Y}" for piece in self.pieces]
        year = "" if self.first.year == now.year else " %Y"
        if self.unit == Unit.DAY:
            return [f"{piece:%a %d %b{year}}" for piece in self.pieces]
        hours = [piece.astimezone(zone) for piece in self._hours()]
        offset = " %z" if len({hour.utcoffset() for hour in hours}) > 1 else ""
        return [f"{hour:%a %d %b{year}, %H:%M{offset}}" for hour in hours]

    def _hours(self) -> Iterator[datetime]:
        moment = self.start
        while moment < self.end:
            yield moment
            moment += HOUR

    def _days(self) -> Iterator[date]:
        day = self.first.replace(day=1) if self.unit == Unit.MONTH else self.first
        while day <= self.last:
            yield day
            day = next_month(day) if self.unit == Unit.MONTH else day + DAY


def next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)


def range_of_days(
    first: date, last: date, unit: Unit | None = None, *, today: date | None = None
) -> DateRange:
    """Without a unit, the smallest that gives a readable chart."""
    days = (last - first).days + 1
    has_hours = today is None or first > today - HOURS_GO_AFTER
    if unit is None:
        usual = {Unit.HOUR: 2 * has_hours, Unit.DAY: MOST_DAYS[Unit.DAY], Unit.MONTH: days}
        unit = next(unit for unit, most in usual.items() if days <= most)
    if unit == Unit.HOUR and not has_hours:
        raise TooOld
    if days > MOST_DAYS[unit]:
        raise TooLong(unit)
    return DateRange(unit, _midnight(first), _midnight(last) + DAY)


def last_hours(now: datetime, hours: int) -> DateRange:
    end = now.replace(minute=0, second=0, microsecond=0) + HOUR
    return DateRange(Unit.HOUR, end - hours * HOUR, end)


def last_days(now: datetime, days: int, unit: Unit | None = None) -> DateRange:
    return range_of_days(now.date() - (days - 1) * DAY, now.date(), unit)


def last_months(now: datetime, months: int, unit: Unit | None = None) -> DateRange:
    first = now.date().replace(day=1)
    for _ in range(months - 1):
        first = (first - DAY).replace(day=1)
    return range_of_days(first, now.date(), unit)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
