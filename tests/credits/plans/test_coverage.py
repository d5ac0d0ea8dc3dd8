"""The plan of a day, from what was paid: a table."""

from datetime import date, timedelta

import pytest

from credits.models import Plan
from credits.plans.coverage import Coverage, PaidMonth, Standing, standing

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
        # What the upgrade stands on was refunded.
        ([UPGRADE], "2026-12-01", None, None),
        ([UPGRADE, SECOND], "2026-12-01", None, None),
        # A month that was cut short by staff.
        ([paid(GROWTH, NOVEMBER, NOVEMBER)], "2026-11-25", None, NOVEMBER),
    ],
)
def test_the_plan_of_a_day_is_the_highest_that_is_paid_for(
    months: list[PaidMonth], day: str, plan: Plan | None, covered_until: date | None
) -> None:
    found = standing(
        Coverage.of(months), wanted=FREE, day=date.fromisoformat(day), told_on=date.min
    )
    assert found == Standing(plan, covered_until)


@pytest.mark.parametrize(
    ("wanted", "days_after", "told_after", "plan"),
    [
        (STARTER, 0, -7, STARTER),
        (STARTER, 6, -7, STARTER),
        (STARTER, 7, -7, None),
        (FREE, 0, -7, None),
        (GROWTH, 3, -7, STARTER),
        # Who is told late has a week all the same.
        (STARTER, 20, 14, STARTER),
        (STARTER, 21, 14, None),
    ],
)
def test_a_plan_that_is_not_paid_again_goes_on_for_a_week(
    wanted: Plan, days_after: int, told_after: int, plan: Plan | None
) -> None:
    found = standing(
        Coverage.of([FIRST]),
        wanted=wanted,
        day=DECEMBER + timedelta(days_after),
        told_on=DECEMBER + timedelta(told_after),
    )
    assert found == Standing(plan, DECEMBER, is_due=plan is not None)


def test_a_lower_plan_begins_where_the_paid_one_ends() -> None:
    higher = Coverage.of([paid(GROWTH, NOVEMBER, DECEMBER)])
    found = standing(higher, wanted=STARTER, day=DECEMBER, told_on=NOVEMBER)
    assert found.plan == STARTER


def test_the_next_plan_that_is_paid_is_known() -> None:
    coverage = Coverage.of([FIRST, UPGRADE, SECOND])
    assert coverage.next_change(date(2026, 12, 1)) == (DECEMBER, STARTER)
    assert coverage.next_change(date(2026, 12, 26)) is None
