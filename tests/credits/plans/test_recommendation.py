"""A plan is recommended only if as many credits as last month cost less with it."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from credits.models import Pack, Plan, Subscription
from credits.plans.recommendation import find_pack_cost, recommend_plan
from credits.presenters.plans import describe_recommendation

pytestmark = pytest.mark.anywhere

NOW = datetime(2026, 11, 20, tzinfo=UTC)
FREE, STARTER, GROWTH = PLANS = [
    Plan(pk=1, code="free", name="Free", price_cents=0, monthly_credits=100),
    Plan(pk=2, code="starter", name="Starter", price_cents=1_500, monthly_credits=5_000),
    Plan(pk=3, code="growth", name="Growth", price_cents=9_900, monthly_credits=50_000),
]
PACKS = [
    Pack(credits=1_000, price_cents=500),
    Pack(credits=10_000, price_cents=3_500),
    Pack(credits=100_000, price_cents=22_500),
]
LARGEST_FIRST = PACKS[::-1]


def recommended(
    current: Plan, used: int, balance: int = 0, *, days: int = 40, packs: list[Pack] = PACKS
) -> tuple[str, int] | None:
    started_on = (NOW - timedelta(days=days)).date()
    subscription = Subscription(plan=current, next_plan=current, started_on=started_on)
    with time_machine.travel(NOW):
        found = recommend_plan(subscription, used, balance, PLANS, packs)
    return (found.plan.code, int(found.current_cents - found.cents)) if found else None


@pytest.mark.parametrize(
    ("credits", "cents"),
    [(0, 0), (1, 500), (4_000, 2_000), (8_000, 3_500), (12_000, 4_500), (95_000, 22_500)],
)
def test_packs_are_combined_at_the_lowest_price(credits: int, cents: int) -> None:
    assert find_pack_cost(credits, LARGEST_FIRST) == cents


def test_smaller_packs_are_used_if_they_are_cheaper_per_credit() -> None:
    dear = Pack(credits=10_000, price_cents=9_000)
    assert find_pack_cost(10_000, [dear, PACKS[0]]) == 5_000


@pytest.mark.parametrize(
    ("current", "used", "expected"),
    [
        (FREE, 100, None),
        (FREE, 4_500, ("starter", 1_000)),
        (FREE, 45_000, ("growth", 6_600)),
        (STARTER, 24_000, None),
        (GROWTH, 24_000, ("starter", 1_400)),
        (GROWTH, 0, ("free", 9_900)),
    ],
)
def test_cheapest_plan_is_recommended(
    current: Plan, used: int, expected: tuple[str, int] | None
) -> None:
    assert recommended(current, used) == expected


def test_higher_plan_is_needless_while_the_balance_covers_a_month() -> None:
    assert recommended(FREE, 45_000, balance=45_000) is None
    assert recommended(FREE, 45_000, balance=44_999)


def test_lower_plan_is_not_recommended_before_a_month_of_the_plan_is_over() -> None:
    assert recommended(GROWTH, 0, days=29) is None
    assert recommended(GROWTH, 0, days=30)


def test_plan_without_packs_to_compare_with_is_not_recommended() -> None:
    assert recommended(FREE, 45_000, packs=[]) is None


def test_recommendation_names_both_prices() -> None:
    subscription = Subscription(plan=FREE, next_plan=FREE, started_on=NOW.date())
    found = recommend_plan(subscription, 45_000, 0, PLANS, PACKS)
    assert found
    assert describe_recommendation(found, FREE, 45_000) == (
        "Growth saves $66.00 per month",
        "You used 45,000 credits in the last 30 days. As many cost $99.00 with Growth instead of "
        "$165.00 with Free and packs.",
    )
