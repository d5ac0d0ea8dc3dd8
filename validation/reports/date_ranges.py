from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum

from django.core.exceptions import ValidationError

from accounts.presenters.charts import MAX_LABELS, choose_labeled
from runtime.dates import midnight, next_month, previous_month

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class Unit(StrEnum):
    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


MAX_DAYS = {Unit.HOUR: 7, Unit.DAY: 92, Unit.MONTH: 2 * 366}
LABEL_HOURS = (1, 2, 4, 8, 12, 24)

# A day less than totals.HOURLY_RETENTION: rows are deleted during the last day.
MAX_HOURLY_AGE = timedelta(days=395)


@dataclass(frozen=True)
class DateRange:
    """Spans whole days in UTC, or hours. The end is exclusive."""

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
    def intervals(self) -> list[date | datetime]:
        return list(self._hours() if self.unit == Unit.HOUR else self._days())

    def count_finished(self, now: datetime) -> int:
        """Return the number of intervals that are over, if at most the last one isn't."""
        return len(self.intervals) - (self.end > now)

    def previous(self, today: date) -> "DateRange | None":
        """Return as many intervals before it, or None if they aren't whole, or no longer stored."""
        is_whole = self.end <= midnight(today) + DAY
        start = self.start - (self.end - self.start)
        if self.unit == Unit.MONTH:
            is_whole = is_whole and self.first.day == 1
            start = self.start
            for _ in self.intervals:
                start = midnight(previous_month(start.date()))
        is_stored = self.unit != Unit.HOUR or start.date() > today - MAX_HOURLY_AGE
        return DateRange(self.unit, start, self.start) if is_whole and is_stored else None

    def labels(self, zone: tzinfo, now: datetime) -> list[str]:
        """Return a label per interval, hours in the viewer's time zone.

        Labels have the year if it isn't the current one, and the UTC offset if it changes.
        """
        if self.unit == Unit.MONTH:
            return [f"{month:%b %Y}" for month in self.intervals]
        year = "" if self.first.year == now.year else " %Y"
        if self.unit == Unit.DAY:
            return [f"{day:%a %d %b{year}}" for day in self.intervals]
        hours = [hour.astimezone(zone) for hour in self._hours()]
        offset = " %z" if len({hour.utcoffset() for hour in hours}) > 1 else ""
        return [f"{hour:%a %d %b{year}, %H:%M{offset}}" for hour in hours]

    def axis_labels(self, zone: tzinfo) -> dict[int, str]:
        if self.unit == Unit.HOUR:
            hours = [hour.astimezone(zone) for hour in self._hours()]
            step = next((each for each in LABEL_HOURS if len(hours) <= each * MAX_LABELS), 24)
            labeled = [(i, at) for i, at in enumerate(hours) if at.hour % step == 0]
            return {i: f"{at:%H:%M}" if at.hour else f"{at.day} {at:%b}" for i, at in labeled}
        template = "%b %Y" if self.unit == Unit.MONTH else "%d %b"
        days = list(self._days())
        return {i: f"{days[i]:{template}}".lstrip("0") for i in choose_labeled(len(days))}

    def _hours(self) -> Iterator[datetime]:
        hour = self.start
        while hour < self.end:
            yield hour
            hour += HOUR

    def _days(self) -> Iterator[date]:
        day = self.first.replace(day=1) if self.unit == Unit.MONTH else self.first
        while day <= self.last:
            yield day
            day = next_month(day) if self.unit == Unit.MONTH else day + DAY


def range_of_days(
    first: date, last: date, unit: Unit | None = None, *, today: date | None = None
) -> DateRange:
    """Return the range of these days. If `unit` is None, choose the smallest readable one.

    With `today`, take into account that old hours are deleted. Raise ValidationError for too many
    days, or deleted hours.
    """
    days = (last - first).days + 1
    has_hours = today is None or first > today - MAX_HOURLY_AGE
    if unit is None:
        limits = {Unit.HOUR: 2 * has_hours, Unit.DAY: MAX_DAYS[Unit.DAY], Unit.MONTH: days}
        unit = next(unit for unit, limit in limits.items() if days <= limit)
    if unit == Unit.HOUR and not has_hours:
        raise ValidationError("Usage by hour is available for 13 months. View older usage by day.")
    if days > MAX_DAYS[unit]:
        raise ValidationError(
            f"Usage by {unit} is limited to {MAX_DAYS[unit]:,} days. Choose a shorter range."
        )
    return DateRange(unit, midnight(first), midnight(last) + DAY)


def last_hours(now: datetime, hours: int) -> DateRange:
    end = now.replace(minute=0, second=0, microsecond=0) + HOUR
    return DateRange(Unit.HOUR, end - hours * HOUR, end)


def last_days(now: datetime, days: int, unit: Unit | None = None) -> DateRange:
    return range_of_days(now.date() - (days - 1) * DAY, now.date(), unit)


def last_months(now: datetime, months: int, unit: Unit | None = None) -> DateRange:
    first = now.date().replace(day=1)
    for _ in range(months - 1):
        first = previous_month(first)
    return range_of_days(first, now.date(), unit)
