"""The terms on the page that orders a pack or a plan."""

from datetime import date

import pytest

from credits.models import OrderKind, OrderMethod
from credits.presenters.checkout import OrderTerms, order_terms


def terms(kind: OrderKind, method: OrderMethod = OrderMethod.INVOICE) -> OrderTerms:
    return order_terms(
        kind=kind,
        credits=5_000,
        price_cents=1_900,
        limits=(600, 60),
        method=method,
        begins_on=date(2026, 12, 1),
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (OrderKind.PACK, "Credits never expire."),
        (OrderKind.PLAN, "Your month begins when you pay."),
        (OrderKind.RENEWAL, "Your month begins on 1 Dec 2026."),
        (OrderKind.UPGRADE, "then $19.00 per month."),
    ],
)
def test_intro_says_when_the_order_begins(kind: OrderKind, words: str) -> None:
    assert words in terms(kind).intro


def test_monthly_orders_say_so() -> None:
    plan, pack = terms(OrderKind.PLAN), terms(OrderKind.PACK)
    assert (plan.facts[0], plan.total) == ("5,000 credits each month", "Total per month")
    assert (pack.facts[0], pack.total) == ("5,000 credits", "Total")
    assert pack.facts[1] == "Raises your rate limit to 600 requests per minute."
    assert (plan.back_url, pack.back_url) == ("/credits/plans/", "/credits/packs/")


def test_payment_by_invoice_and_by_card_read_differently() -> None:
    invoice = terms(OrderKind.PLAN)
    assert invoice.action == "Place order"
    assert "once payment arrives" in invoice.payment
    card = terms(OrderKind.PLAN, OrderMethod.STRIPE)
    assert card.action == "Continue to payment"
    assert card.payment.endswith("Your plan renews each month until you change to Free.")
    assert terms(OrderKind.PACK, OrderMethod.STRIPE).payment.endswith(
        "We never see your card number."
    )
