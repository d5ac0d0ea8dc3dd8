"""What the landing page says about prices."""

from credits.models import Pack, Plan
from reference.landing.presenters import describe_prices

PLANS = [
    Plan(code="free", name="Free", price_cents=0, monthly_credits=100, requests_per_minute=60),
    Plan(code="p", name="P", price_cents=1_500, monthly_credits=5_000, requests_per_minute=1_200),
]
PACKS = [
    Pack(credits=1_000, price_cents=500, requests_per_minute=300),
    Pack(credits=10_000, price_cents=3_500, requests_per_minute=600),
]


def test_plan_in_the_middle_is_recommended() -> None:
    largest = Plan(
        code="l", name="L", price_cents=9_900, monthly_credits=50_000, requests_per_minute=1
    )
    offers = describe_prices([*PLANS, largest], PACKS)
    assert [offer.is_recommended for offer in offers.plans] == [False, True, False]
    assert not any(offer.is_recommended for offer in offers.packs)
    assert [offer.credits for offer in offers.packs] == [1_000, 10_000]


def test_two_plans_need_no_recommendation() -> None:
    assert not any(offer.is_recommended for offer in describe_prices(PLANS, []).plans)
