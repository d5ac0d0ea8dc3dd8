"""Which plan an account has on a day. It follows from what was paid, from which plan the customer
wants next, and from nothing else. Pure: it asks no database.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from credits.models.catalogue import Plan
from credits.periods import Period, period_of

# So long after its end a plan that is not paid again goes on.
GRACE = timedelta(days=7)
# And so long before its end a renewal is written.
RENEWED_BEFORE = timedelta(days=7)


@dataclass(frozen=True)
class PaidMonth:
    """What one paid order covers. An upgrade counts on days that something else covers too."""

    plan: Plan
    start: date
    end: date
    is_upgrade: bool = False

    def holds_on(self, day: date) -> bool:
        return self.start <= day < self.end


@dataclass(frozen=True)
class Coverage:
    months: tuple[PaidMonth, ...]

    @classmethod
    def of(cls, months: Iterable[PaidMonth]) -> "Coverage":
        return cls(tuple(months))

    def plan_on(self, day: date) -> Plan | None:
        """The highest that is paid for; None where nothing is."""
        holding = [month for month in self.months if month.holds_on(day)]
        if all(month.is_upgrade for month in holding):
            return None
        return max((month.plan for month in holding), key=lambda plan: plan.price_cents)

    def end(self, day: date) -> date:
        """The first day, from this one on, that is not covered."""
        ends = [month.end for month in self._bases() if month.holds_on(day)]
        return self.end(max(ends)) if ends else day

    def lower_until(self, day: date, plan: Plan) -> date:
        """The end of the months, from this day's on, that are paid for with a lower plan."""
        now = self.plan_on(day)
        if now is None or now.price_cents >= plan.price_cents:
            return day
        ends = [month.end for month in self._bases() if month.holds_on(day)]
        return self.lower_until(max(ends), plan)

    def ended(self, day: date) -> date | None:
        """For a day that is not covered: since when."""
        return max((month.end for month in self._bases() if month.end <= day), default=None)

    def last_plan(self, day: date) -> Plan | None:
        """The plan of the last covered day before this one."""
        ended = self.ended(day)
        return self.plan_on(ended - timedelta(days=1)) if ended else None

    def next_change(self, day: date) -> tuple[date, Plan] | None:
        """When another plan, that is paid already, takes over."""
        now, end = self.plan_on(day), self.end(day)
        for start in sorted(month.start for month in self._bases()):
            then = self.plan_on(start)
            if day < start < end and then is not None and then != now:
                return start, then
        return None

    def _bases(self) -> list[PaidMonth]:
        return [month for month in self.months if not month.is_upgrade]


@dataclass(frozen=True)
class Standing:
    # None: Free.
    plan: Plan | None
    # The first day that is not paid for; None where nothing ever was.
    covered_until: date | None
    # What is covered has ended, and the plan goes on for the days of grace.
    is_due: bool = False


def standing(coverage: Coverage, *, wanted: Plan, day: date, told_on: date) -> Standing:
    """`told_on`: when the customer was first asked to pay for the time after what is covered.
    Whoever is told late has as many days all the same."""
    plan = coverage.plan_on(day)
    if plan is not None:
        return Standing(plan, coverage.end(day))
    ended, last = coverage.ended(day), coverage.last_plan(day)
    if ended is None or last is None or wanted.is_free or day >= max(ended, told_on) + GRACE:
        return Standing(None, ended)
    # A lower plan that was chosen begins where the paid one ends.
    return Standing(min(last, wanted, key=lambda plan: plan.price_cents), ended, is_due=True)


def month_from(day: date, started_on: date) -> Period:
    """A month that begins on this day, and ends on the subscription's day of the month."""
    period = period_of(day, started_on)
    return period if period.start == day else period_of(day, day)
