"""Months of a subscription, which begin on the day of the month it started on. Pure."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Period:
    start: date
    # Exclusive: the first day of the next period.
    end: date


def period_containing(day: date, started_on: date) -> Period:
    """Return the period that contains the day.

    A month without the day of `started_on` begins a period on its last day: the February
    period of a subscription that started on the 31st begins on the 28th or 29th.
    """
    months = (day.year - started_on.year) * 12 + day.month - started_on.month
    if day < _start_of_period(started_on, months):
        months -= 1
    return Period(_start_of_period(started_on, months), _start_of_period(started_on, months + 1))


def _start_of_period(started_on: date, months: int) -> date:
    year, month = divmod(started_on.year * 12 + started_on.month - 1 + months, 12)
    return date(year, month + 1, min(started_on.day, monthrange(year, month + 1)[1]))


def month_starting(day: date, started_on: date) -> Period:
    """Return the month from this day until the subscription's day of the next month."""
    period = period_containing(day, started_on)
    return period if period.start == day else period_containing(day, day)
