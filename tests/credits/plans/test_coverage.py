"""Derive the plan on a day from the paid months."""

from datetime import date, timedelta

import pytest

from credits.models import Plan
from credits.plans.coverage import Coverage, PaidMonth, PlanStatus, plan_status

FREE = Plan(code="free", name="Free", price_cents=0)
STARTER = Plan(code="starter", name="Starter", price_cents=1_500)
GROWTH = Plan(code="growth", name="Growth", price_cents=9_900)
for number, plan in enumerate((FREE, STARTER, GROWTH), 1):
    plan.pk = number

NOVEMBER, DECEMBER, JANUARY = date(2026, 11, 25), date(2026, 12, 25), date(2027, 1, 25)


def paid(plan: Plan, start: date, end: date, *, upgrade: bool = False) -> PaidMonth:
    return PaidMonth(plan, start, end, upgrade)


FIRST = paid(STARTER, NOVEMBER, DECEMBER)
SECOND = paid(STARTER, DECEMBER, JANUARY)
UPGRADE = paid(GROWTH, NOVEMBER, DECEMBER, upgrade=True)


@pytest.mark.parametrize(
    ("months", "day", "plan", "covered_until"),
    [
        ([], "2026-12-01", None, None),
        ([FIRST], "2026-11-25", STARTER, DECEMBER),
        ([FIRST], "2026-12-24", STARTER, DECEMBER),
        ([FIRST, SECOND], "2026-12-01", STARTER, JANUARY),
        ([SECOND, FIRST], "2026-12-25", STARTER, JANUARY),
        ([FIRST, UPGRADE], "2026-12-01", GROWTH, DECEMBER),
        ([FIRST, UPGRADE, SECOND], "2026-12-26", STARTER, JANUARY),
        # The month under the upgrade was refunded.
        ([UPGRADE], "2026-12-01", None, None),
        ([UPGRADE, SECOND], "2026-12-01", None, None),
        # Staff ended the month on its first day.
        ([paid(GROWTH, NOVEMBER, NOVEMBER)], "2026-11-25", None, NOVEMBER),
    ],
)
def test_plan_on_a_day_is_the_highest_that_is_paid_for(
    months: list[PaidMonth], day: str, plan: Plan | None, covered_until: date | None
) -> None:
    status = plan_status(
        Coverage.from_months(months),
        next_plan=FREE,
        day=date.fromisoformat(day),
        notified_on=date.min,
    )
    assert status == PlanStatus(plan, covered_until)


@pytest.mark.parametrize(
    ("next_plan", "days_after", "notified_after", "plan"),
    [
        (STARTER, 0, -7, STARTER),
        (STARTER, 6, -7, STARTER),
        (STARTER, 7, -7, None),
        (FREE, 0, -7, None),
        (GROWTH, 3, -7, STARTER),
        # A late notice leaves a week to pay.
        (STARTER, 20, 14, STARTER),
        (STARTER, 21, 14, None),
    ],
)
def test_unpaid_plan_continues_for_a_grace_period_of_a_week(
    next_plan: Plan, days_after: int, notified_after: int, plan: Plan | None
) -> None:
    status = plan_status(
        Coverage.from_months([FIRST]),
        next_plan=next_plan,
        day=DECEMBER + timedelta(days_after),
        notified_on=DECEMBER + timedelta(notified_after),
    )
    assert status == PlanStatus(plan, DECEMBER, is_due=plan is not None)


def test_next_change_is_the_next_paid_plan() -> None:
    coverage = Coverage.from_months([FIRST, UPGRADE, SECOND])
    assert coverage.next_change(date(2026, 12, 1)) == (DECEMBER, STARTER)
    assert coverage.next_change(date(2026, 12, 26)) is None
