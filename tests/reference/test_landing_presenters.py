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


def test_plans_and_packs_are_compared_with_the_same_price() -> None:
    offers = describe_prices(PLANS, PACKS)
    assert [offer.price.saving for offer in offers.plans] == ["", "Save 40%"]
    assert [offer.price.saving for offer in offers.packs] == ["", "Save 30%"]
    assert offers.note == ("Savings are compared with our highest price, $5 per 1,000 credits.")


def test_free_plan_alone_is_compared_with_nothing() -> None:
    offers = describe_prices(PLANS[:1], [])
    assert (offers.packs, offers.note) == ([], "")
