"""The plan on a day, and what plans, upgrades and renewals cost. Without a database.

Also monthly periods, which may begin on a day that some months don't have, tax, and money.
"""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credits.models import Plan
from credits.money import format_money, format_percent, with_tax, without_tax
from credits.plans.coverage import Coverage, PaidMonth, PlanStatus, plan_status
from credits.plans.offers import OrderRefused, offer_plan
from credits.plans.periods import Period, month_to_renew, period_containing

FREE = Plan(pk=1, code="free", name="Free", price_cents=0, monthly_credits=100)
STARTER = Plan(pk=2, code="starter", name="Starter", price_cents=1_500, monthly_credits=5_000)
GROWTH = Plan(pk=3, code="growth", name="Growth", price_cents=9_900, monthly_credits=50_000)

SCALE = Plan(pk=4, code="scale", name="Scale", price_cents=59_000, monthly_credits=500_000)
NOVEMBER, DECEMBER, JANUARY = date(2026, 11, 25), date(2026, 12, 25), date(2027, 1, 25)
MONTH, NEXT_MONTH = Period(NOVEMBER, DECEMBER), Period(DECEMBER, JANUARY)
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
        (STARTER, DUE, [FIRST], "renewal", 1_500, 5_000, NEXT_MONTH),
        (GROWTH, DUE, [FIRST], "renewal", 9_900, 50_000, NEXT_MONTH),
        (GROWTH, PAID, [FIRST], "upgrade", 8_400, 45_000, MONTH),
        (
            *(GROWTH, PAID_AHEAD, [FIRST, SECOND], "upgrade"),
            *(16_900, 90_000, Period(NOVEMBER, JANUARY)),
        ),
        (SCALE, PAID_GROWTH, [FIRST, UPGRADE], "upgrade", 49_100, 450_000, MONTH),
        # Nothing was paid for a plan that staff gave.
        (GROWTH, PAID, [GIFT], "upgrade", 9_900, 50_000, MONTH),
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
        plan, coverage=Coverage(months), status=status, started_on=NOVEMBER, day=date(2026, 12, 1)
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
        Coverage(months), next_plan=FREE, day=date.fromisoformat(day), notified_on=date.min
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


DAYS = st.dates(date(2020, 1, 1), date(2090, 1, 1))


@pytest.mark.parametrize(
    ("day", "started_on", "start", "end"),
    [
        ("2026-11-21", "2026-11-21", "2026-11-21", "2026-12-21"),
        ("2026-12-20", "2026-11-21", "2026-11-21", "2026-12-21"),
        ("2026-12-21", "2026-11-21", "2026-12-21", "2027-01-21"),
        ("2027-02-14", "2026-01-31", "2027-01-31", "2027-02-28"),
        ("2027-02-28", "2026-01-31", "2027-02-28", "2027-03-31"),
        ("2028-02-29", "2026-01-30", "2028-02-29", "2028-03-30"),
        ("2027-03-30", "2026-01-31", "2027-02-28", "2027-03-31"),
        ("2026-01-01", "2025-12-31", "2025-12-31", "2026-01-31"),
    ],
)
def test_period_begins_on_the_day_of_the_subscription(
    day: str, started_on: str, start: str, end: str
) -> None:
    expected = Period(date.fromisoformat(start), date.fromisoformat(end))
    assert period_containing(date.fromisoformat(day), date.fromisoformat(started_on)) == expected


@given(day=DAYS, started_on=DAYS)
def test_every_day_is_in_one_period_that_the_next_one_follows(day: date, started_on: date) -> None:
    period = period_containing(day, started_on)
    assert period.start <= day < period.end
    assert period_containing(period.end, started_on).start == period.end
    assert 28 <= (period.end - period.start).days <= 31


@pytest.mark.parametrize(
    ("net", "rate", "tax"), [(3_500, "0.19", 665), (50, "0.19", 10), (1_500, "0", 0), (5, "0.1", 1)]
)
def test_tax_is_rounded_half_up_to_the_cent(net: int, rate: str, tax: int) -> None:
    amount = with_tax(net, Decimal(rate))
    assert (amount.tax_cents, amount.total_cents) == (tax, net + tax)


@given(net=st.integers(1, 10_000_000), rate=st.decimals(0, 1, places=4))
def test_net_amount_can_be_derived_from_the_total(net: int, rate: Decimal) -> None:
    assert without_tax(with_tax(net, rate).total_cents, rate) == net


def test_money_is_formatted_with_currency_and_thousands_separators() -> None:
    assert format_money(120_000, "USD") == "$1,200.00"
    assert format_money(5, "EUR") == "EUR 0.05"
    assert format_money(-5, "CHF") == "\N{MINUS SIGN}CHF 0.05"
    assert format_money(123_456_789_012, "USD") == "$1,234,567,890.12"
    percents = [format_percent(Decimal(rate)) for rate in ("0.19", "0.081", "0.2")]
    assert percents == ["19%", "8.1%", "20%"]
