"""What the landing page says about prices."""

from credits.models import Pack, Plan
from reference.landing.presenters import pack_cards, plan_cards

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
    assert [card.is_recommended for card in plan_cards([*PLANS, largest])] == [False, True, False]


def test_no_pack_is_recommended() -> None:
    cards = pack_cards(PACKS)
    assert not any(card.is_recommended for card in cards)
    assert [card.credits for card in cards] == [1_000, 10_000]


def test_two_plans_need_no_recommendation() -> None:
    assert not any(card.is_recommended for card in plan_cards(PLANS))
