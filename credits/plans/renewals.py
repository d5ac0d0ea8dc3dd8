"""When a renewal is ordered, and for which month."""

from datetime import date, timedelta

from credits.plans.periods import Period, month_starting, period_containing

# Before the end of the paid months.
RENEWAL_LEAD_TIME = timedelta(days=7)


def month_to_renew(*, covered_until: date, started_on: date, day: date) -> Period | None:
    """Return None before a renewal is due. Skip months that are over."""
    if day < covered_until - RENEWAL_LEAD_TIME:
        return None
    start = max(covered_until, period_containing(day, started_on).start)
    return month_starting(start, started_on)
