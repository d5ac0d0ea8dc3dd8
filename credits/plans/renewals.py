"""When a renewal is ordered, and for which month. Pure.

The daily job in credits/orders/daily_jobs.py places the orders. What happens if they aren't paid
is in coverage.py.
"""

from datetime import date, timedelta

from credits.plans.periods import Period, month_starting, period_containing

# How long before the end of the paid months the renewal is ordered.
RENEWAL_LEAD_TIME = timedelta(days=7)


def month_to_renew(*, covered_until: date, started_on: date, day: date) -> Period | None:
    """Return the month that a renewal ordered on this day is for, or None before it is due.

    If the daily job didn't run for a long time, this is the current month, not one that is over.
    """
    if day < covered_until - RENEWAL_LEAD_TIME:
        return None
    start = max(covered_until, period_containing(day, started_on).start)
    return month_starting(start, started_on)
