"""The months of a subscription: each begins on the day of the month on which it was taken. Pure."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from runtime.dates import midnight

__all__ = ["Period", "midnight", "period_of"]


@dataclass(frozen=True)
class Period:
    start: date
    # The first day that is no longer in it.
    end: date


def period_of(day: date, started_on: date) -> Period:
    """The period that this day is in. A plan taken on the 31st begins a February on the 28th."""
    months = (day.year - started_on.year) * 12 + day.month - started_on.month
    if day < _nth(started_on, months):
        months -= 1
    return Period(_nth(started_on, months), _nth(started_on, months + 1))


def _nth(started_on: date, months: int) -> date:
    year, month = divmod(started_on.year * 12 + started_on.month - 1 + months, 12)
    return date(year, month + 1, min(started_on.day, monthrange(year, month + 1)[1]))
