"""An account's plan on a day, from paid orders and the next plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from credits.models.catalog import Plan

# How long a plan lasts after the paid months.
GRACE_PERIOD = timedelta(days=7)


@dataclass(frozen=True)
class PaidMonth:
    """Upgrades count only on days that other orders cover."""

    plan: Plan
    start: date
    end: date
    is_upgrade: bool = False
    net_cents: int = 0
    credits: int = 0

    def covers(self, day: date) -> bool:
        return self.start <= day < self.end


@dataclass(frozen=True)
class Coverage:
    months: Sequence[PaidMonth]

    def plan_on(self, day: date) -> Plan | None:
        current = [month for month in self.months if month.covers(day)]
        if all(month.is_upgrade for month in current):
            return None
        return max((month.plan for month in current), key=lambda plan: plan.price_cents)

    def covered_until(self, day: date) -> date:
        """Return the first day from this one that isn't covered."""
        ends = [month.end for month in self._base_months() if month.covers(day)]
        return self.covered_until(max(ends)) if ends else day

    def lower_until(self, day: date, plan: Plan) -> date:
        """Return the end of consecutive months with a lower plan."""
        current = self.plan_on(day)
        if current is None or current.price_cents >= plan.price_cents:
            return day
        ends = [month.end for month in self._base_months() if month.covers(day)]
        return self.lower_until(max(ends), plan)

    def ended_on(self, day: date) -> date | None:
        return max((month.end for month in self._base_months() if month.end <= day), default=None)

    def last_plan(self, day: date) -> Plan | None:
        ended_on = self.ended_on(day)
        return self.plan_on(ended_on - timedelta(days=1)) if ended_on else None

    def next_change(self, day: date) -> tuple[date, Plan] | None:
        current, end = self.plan_on(day), self.covered_until(day)
        for start in sorted(month.start for month in self._base_months()):
            plan = self.plan_on(start)
            if day < start < end and plan is not None and plan != current:
                return start, plan
        return None

    def months_between(self, start: date, end: date) -> list[PaidMonth]:
        """`end` is exclusive."""
        return [month for month in self.months if month.end > start and month.start < end]

    def _base_months(self) -> list[PaidMonth]:
        return [month for month in self.months if not month.is_upgrade]


@dataclass(frozen=True)
class PlanStatus:
    # None means Free.
    plan: Plan | None
    # Exclusive. None if nothing was ever paid.
    covered_until: date | None
    # Whether the plan continues in the grace period.
    is_due: bool = False


def grace_period_end(ended_on: date, notified_on: date) -> date:
    """Return when an unrenewed plan ends. A late notice leaves as many days."""
    return max(ended_on, notified_on) + GRACE_PERIOD


def plan_status(coverage: Coverage, *, next_plan: Plan, day: date, notified_on: date) -> PlanStatus:
    """`notified_on` is when the customer was first asked to pay."""
    plan = coverage.plan_on(day)
    if plan is not None:
        return PlanStatus(plan, coverage.covered_until(day))
    ended_on, last_plan = coverage.ended_on(day), coverage.last_plan(day)
    if ended_on is None or last_plan is None or next_plan.is_free:
        return PlanStatus(None, ended_on)
    if day >= grace_period_end(ended_on, notified_on):
        return PlanStatus(None, ended_on)
    # A scheduled lower plan begins when the paid one ends.
    plan = min(last_plan, next_plan, key=lambda plan: plan.price_cents)
    return PlanStatus(plan, ended_on, is_due=True)
