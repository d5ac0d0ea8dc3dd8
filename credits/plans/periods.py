"""Months that begin on the day of the month a subscription started on."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

# Before the end of the paid months.
RENEWAL_LEAD_TIME = timedelta(days=7)


@dataclass(frozen=True)
class Period:
    start: date
    # Exclusive.
    end: date


def period_containing(day: date, started_on: date) -> Period:
    """In months without its first day, the period begins on the last."""
    months = (day.year - started_on.year) * 12 + day.month - started_on.month
    if day < _start_of_period(started_on, months):
        months -= 1
    return Period(_start_of_period(started_on, months), _start_of_period(started_on, months + 1))


def _start_of_period(started_on: date, months: int) -> date:
    year, month = divmod(started_on.year * 12 + started_on.month - 1 + months, 12)
    return date(year, month + 1, min(started_on.day, monthrange(year, month + 1)[1]))


def month_starting(day: date, started_on: date) -> Period:
    """Return the month from this day until the subscription's next first day."""
    period = period_containing(day, started_on)
    return period if period.start == day else period_containing(day, day)


def month_to_renew(*, covered_until: date, started_on: date, day: date) -> Period | None:
    """Return None before a renewal is due. Skip months that are over."""
    if day < covered_until - RENEWAL_LEAD_TIME:
        return None
    start = max(covered_until, period_containing(day, started_on).start)
    return month_starting(start, started_on)
