"""What the landing page says about prices."""

import pytest

from credits.models import Pack, Plan
from validation.presenters.landing import pack_rows, plan_rows, price_per_thousand


@pytest.mark.parametrize(
    ("cents", "credits", "text"),
    [
        (1_500, 5_000, "3.00"),
        (59_000, 500_000, "1.18"),
        (120_000, 1_000_000, "1.20"),
        (500, 1_000, "5.00"),
        (1_000, 16_000, "0.63"),
        (0, 100, "0.00"),
    ],
)
def test_price_per_thousand_is_rounded_half_up_to_a_cent(
    cents: int, credits: int, text: str
) -> None:
    assert price_per_thousand(cents, credits).endswith(text)


def test_free_plan_is_topped_up_to_its_credits() -> None:
    plans = [
        Plan(code="free", name="Free", price_cents=0, monthly_credits=100, requests_per_minute=60),
        Plan(code="p", name="P", price_cents=1, monthly_credits=5_000, requests_per_minute=1_200),
    ]
    assert [row.credits for row in plan_rows(plans)] == ["up to 100", "5,000"]
    assert [row.requests_per_minute for row in plan_rows(plans)] == ["60", "1,200"]


def test_pack_is_named_by_its_credits() -> None:
    pack = Pack(credits=10_000, price_cents=3_500, requests_per_minute=600)
    (row,) = pack_rows([pack])
    assert row.name == "10,000 credits"
    assert row.price.endswith("35.00")
    assert row.per_thousand.endswith("3.50")
