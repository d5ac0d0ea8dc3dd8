"""The plan on a day, and what plans, upgrades and renewals cost. Without a database."""

from datetime import date, timedelta

import pytest

from credits.models import Plan
from credits.plans.coverage import Coverage, PaidMonth, PlanStatus, plan_status
from credits.plans.offers import OrderRefused, offer_plan
from credits.plans.periods import Period, month_to_renew

FREE = Plan(pk=1, code="free", name="Free", price_cents=0, monthly_credits=100)
STARTER = Plan(pk=2, code="starter", name="Starter", price_cents=1_500, monthly_credits=5_000)
GROWTH = Plan(pk=3, code="growth", name="Growth", price_cents=9_900, monthly_credits=50_000)

SCALE = Plan(pk=4, code="scale", name="Scale", price_cents=59_000, monthly_credits=500_000)
NOVEMBER, DECEMBER, JANUARY = date(2026, 11, 25), date(2026, 12, 25), date(2027, 1, 25)
FIRST = PaidMonth(STARTER, NOVEMBER, DECEMBER, net_cents=1_500, credits=5_000)
SECOND = PaidMonth(STARTER, DECEMBER, JANUARY, net_cents=1_400, credits=5_000)
UPGRADE = PaidMonth(GROWTH, NOVEMBER, DECEMBER, net_cents=8_400, credits=45_000, is_upgrade=True)
GIFT = PaidMonth(STARTER, NOVEMBER, DECEMBER)

NO_PLAN = PlanStatus(None, None)
PAID, PAID_AHEAD = PlanStatus(STARTER, DECEMBER), PlanStatus(STARTER, JANUARY)
PAID_GROWTH = PlanStatus(GROWTH, DECEMBER)
DUE = PlanStatus(STARTER, DECEMBER, is_due=True)


@pytest.mark.parametrize(
    ("plan", "status", "months", "kind", "net_cents", "credits", "period"),
    [
        (STARTER, NO_PLAN, [], "plan", 1_500, 5_000, None),
        (STARTER, DUE, [FIRST], "renewal", 1_500, 5_000, Period(DECEMBER, JANUARY)),
        (GROWTH, DUE, [FIRST], "renewal", 9_900, 50_000, Period(DECEMBER, JANUARY)),
        (GROWTH, PAID, [FIRST], "upgrade", 8_400, 45_000, Period(NOVEMBER, DECEMBER)),
        (
            *(GROWTH, PAID_AHEAD, [FIRST, SECOND], "upgrade"),
            *(16_900, 90_000, Period(NOVEMBER, JANUARY)),
        ),
        (
            SCALE,
            PAID_GROWTH,
            [FIRST, UPGRADE],
            "upgrade",
            49_100,
            450_000,
            Period(NOVEMBER, DECEMBER),
        ),
        # Nothing was paid for a plan that staff gave.
        (GROWTH, PAID, [GIFT], "upgrade", 9_900, 50_000, Period(NOVEMBER, DECEMBER)),
    ],
)
def test_offer_depends_on_what_is_paid_for(
    plan: Plan,
    status: PlanStatus,
    months: list[PaidMonth],
    kind: str,
    net_cents: int,
    credits: int,
    period: Period | None,
) -> None:
    offer = offer_plan(
        plan,
        coverage=Coverage(months),
        status=status,
        started_on=NOVEMBER,
        day=date(2026, 12, 1),
    )
    assert (offer.kind, offer.net_cents, offer.credits) == (kind, net_cents, credits)
    assert offer.period == period


@pytest.mark.parametrize(
    ("plan", "status", "reason"),
    [
        (FREE, PAID, "You can't buy Free"),
        (STARTER, PAID, "You're already on Starter"),
        (STARTER, PlanStatus(GROWTH, DECEMBER), "Starter is lower than"),
    ],
)
def test_current_or_lower_plan_is_not_offered(plan: Plan, status: PlanStatus, reason: str) -> None:
    with pytest.raises(OrderRefused, match=reason):
        offer_plan(
            plan,
            coverage=Coverage([FIRST]),
            status=status,
            started_on=NOVEMBER,
            day=date(2026, 12, 1),
        )


@pytest.mark.parametrize(
    ("day", "start"),
    [
        ("2026-12-17", None),
        ("2026-12-18", "2026-12-25"),
        ("2027-01-24", "2026-12-25"),
        # The daily job didn't run for months.
        ("2027-02-03", "2027-01-25"),
    ],
)
def test_renewal_is_ordered_a_week_before_the_paid_months_end(day: str, start: str | None) -> None:
    month = month_to_renew(covered_until=DECEMBER, started_on=NOVEMBER, day=date.fromisoformat(day))
    assert (month and str(month.start)) == start


def test_month_of_a_subscription_that_started_on_the_31st_ends_on_that_day_again() -> None:
    month = month_to_renew(
        covered_until=date(2027, 2, 28), started_on=date(2027, 1, 31), day=date(2027, 2, 21)
    )
    assert month == Period(date(2027, 2, 28), date(2027, 3, 31))


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
        # The month before was refunded.
        ([SECOND], "2026-12-01", None, None),
        ([SECOND], "2026-12-25", STARTER, JANUARY),
        # Staff ended the month on its first day.
        ([PaidMonth(GROWTH, NOVEMBER, NOVEMBER)], "2026-11-25", None, NOVEMBER),
    ],
)
def test_plan_on_a_day_is_the_highest_that_is_paid_for(
    months: list[PaidMonth], day: str, plan: Plan | None, covered_until: date | None
) -> None:
    status = plan_status(
        Coverage(months),
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
        Coverage([FIRST]),
        next_plan=next_plan,
        day=DECEMBER + timedelta(days_after),
        notified_on=DECEMBER + timedelta(notified_after),
    )
    assert status == PlanStatus(plan, DECEMBER, is_due=plan is not None)


def test_next_change_is_the_next_paid_plan() -> None:
    coverage = Coverage([FIRST, UPGRADE, SECOND])
    assert coverage.next_change(date(2026, 12, 1)) == (DECEMBER, STARTER)
    assert coverage.next_change(date(2026, 12, 26)) is None
