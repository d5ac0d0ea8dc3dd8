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


def test_plans_are_charged_monthly_and_orders_are_paid_by_invoice_or_card() -> None:
    plan, pack = terms(OrderKind.PLAN), terms(OrderKind.PACK, OrderMethod.STRIPE)
    assert (plan.facts[0], plan.total) == ("5,000 credits each month", "Total per month")
    assert (pack.facts[0], pack.total) == ("5,000 credits", "Total")
    assert (plan.back_url, pack.back_url) == ("/credits/plans/", "/credits/packs/")
    assert (plan.action, pack.action) == ("Place order", "Continue to payment")
    assert "once payment arrives" in plan.payment
    assert pack.payment.endswith("We never see your card number.")
    assert "renews each month" in terms(OrderKind.PLAN, OrderMethod.STRIPE).payment
