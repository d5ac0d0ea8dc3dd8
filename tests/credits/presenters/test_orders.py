"""What pages say about prices, limits, orders, and on invoices."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
import time_machine

from accounts.models import Account
from accounts.presenters.elements import Badge
from credits.models import Order, OrderKind, OrderMethod, OrderState, Pack, Plan
from credits.money import with_tax
from credits.orders.quotes import Quote
from credits.orders.tax import Tax
from credits.plans.periods import Period
from credits.presenters.checkout import OrderTerms, order_terms
from credits.presenters.orders import due_date, invoice_stamp, order_badge, order_outcome
from credits.presenters.prices import (
    card_price,
    format_card_price,
    limit_after_purchase,
    pack_prices,
    plan_credits,
    plan_price,
    tax_note,
)

MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def order(
    state: OrderState, *, cents: int = 500, credits: int = 1_000, refunded_cents: int = 0
) -> Order:
    return Order(
        state=state,
        net_cents=cents,
        tax_cents=0,
        credits=credits,
        refunded_cents=refunded_cents,
        currency="USD",
        due_on=date(2026, 11, 27),
        paid_at=MOMENT,
        cancelled_at=MOMENT,
        refunded_at=MOMENT,
    )


def test_overdue_and_partly_refunded_orders_are_marked() -> None:
    pending = order(OrderState.PENDING)
    with time_machine.travel(datetime(2026, 11, 27, tzinfo=UTC)):
        assert order_badge(pending) == Badge("Unpaid")
        assert due_date(pending) == "due on 27 Nov 2026"
    with time_machine.travel(datetime(2026, 11, 28, tzinfo=UTC)):
        assert order_badge(pending) == Badge("Overdue", "risky", "triangle-alert")
        assert due_date(pending) == "was due on 27 Nov 2026"
    assert order_outcome(pending) is None
    assert order_badge(order(OrderState.PAID)) == Badge("Paid", "deliverable", "circle-check")
    assert order_badge(order(OrderState.PAID, refunded_cents=100)) == Badge("Partly refunded")


def test_outcome_says_what_happened_to_the_credits() -> None:
    added = "1,000 credits were added to your balance."
    part_refunded = order(OrderState.PAID, refunded_cents=100)
    for shown, verb, text in (
        (order(OrderState.PAID), "Paid", added),
        (order(OrderState.PAID, credits=1), "Paid", "1 credit was added to your balance."),
        (order(OrderState.PAID, cents=0, credits=0), "Assigned", ""),
        (part_refunded, "Paid", f"{added} Credits for the refunded $1.00 were deducted."),
        (order(OrderState.REFUNDED), "Refunded", "Its credits were deducted."),
        (order(OrderState.CANCELLED), "Canceled", "Nothing is due."),
    ):
        outcome = order_outcome(shown)
        assert outcome is not None
        assert (outcome.verb, outcome.at, outcome.text) == (verb, MOMENT, text)


def test_invoice_is_stamped_once_the_order_has_ended() -> None:
    part_refunded = order(OrderState.PAID, refunded_cents=100)
    assert invoice_stamp(order(OrderState.PENDING)) == ""
    assert invoice_stamp(order(OrderState.PAID)) == "Paid on 20 Nov 2026"
    assert invoice_stamp(part_refunded) == "Paid on 20 Nov 2026. $1.00 was refunded."
    assert invoice_stamp(order(OrderState.REFUNDED)) == "Refunded on 20 Nov 2026"
    canceled = invoice_stamp(order(OrderState.CANCELLED))
    assert canceled == "Canceled on 20 Nov 2026. Nothing is due."


PACKS = [Pack(credits=1_000, price_cents=500), Pack(credits=9_000, price_cents=3_000)]
FREE = Plan(code="free", name="Free", price_cents=0, monthly_credits=100)
GROWTH = Plan(code="growth", name="Growth", price_cents=1_900, monthly_credits=5_000)


def test_prices_credits_limits_and_tax_are_described() -> None:
    assert (plan_price(FREE), plan_price(GROWTH)) == ("$0 per month", "$19 per month")
    assert [format_card_price(cents) for cents in (450, 120_000)] == ["$4.50", "$1,200"]
    assert plan_credits(FREE) == "Topped up to 100 credits each month"
    assert plan_credits(GROWTH) == "5,000 credits each month"
    assert limit_after_purchase(600, 60) == "Raises your rate limit to 600 requests per minute."
    assert (limit_after_purchase(60, 600), limit_after_purchase(60, 60)) == ("", "")
    assert (tax_note(Decimal(0)), tax_note(Decimal("0.19"))) == ("", "Prices exclude 19% tax.")


@pytest.mark.parametrize(
    ("cents", "credits", "rate"),
    [(1_500, 5_000, "$3"), (59_000, 500_000, "$1.18"), (1_000, 16_000, "$0.63")],
)
def test_price_per_thousand_is_rounded(cents: int, credits: int, rate: str) -> None:
    price = card_price(Pack(credits=credits, price_cents=cents))
    assert price.note == f"{rate} per 1,000 credits"


def test_free_plan_has_no_price_per_thousand() -> None:
    price = card_price(FREE)
    assert (price.amount, price.unit) == ("$0", "per month")
    assert price.note == "No payment details needed"


def test_packs_are_listed_in_a_sentence() -> None:
    packs = [*PACKS, Pack(credits=50_000, price_cents=9_900)]
    text = "1,000 credits for $5.00, 9,000 credits for $30.00 or 50,000 credits for $99.00"
    assert (pack_prices([]), pack_prices(packs)) == ("", text)


def terms(kind: OrderKind, method: OrderMethod = OrderMethod.INVOICE) -> OrderTerms:
    quote = Quote(
        account=Account(),
        item=Plan(price_cents=1_900),
        kind=kind,
        description="",
        credits=5_000,
        requests_per_minute=600,
        amount=with_tax(1_900, Decimal(0)),
        tax=Tax(Decimal(0)),
        usual_rate=Decimal(0),
        currency="USD",
        method=method,
        period=Period(date(2026, 12, 1), date(2027, 1, 1)),
        replaced=(),
    )
    return order_terms(quote, 60)


def test_intro_says_when_the_order_begins() -> None:
    assert "Credits never expire." in terms(OrderKind.PACK).intro
    assert "Your month begins when you pay." in terms(OrderKind.PLAN).intro
    assert "Your month begins on 1 Dec 2026." in terms(OrderKind.RENEWAL).intro
    assert "then $19.00 per month." in terms(OrderKind.UPGRADE).intro


def test_plans_are_charged_monthly_and_orders_are_paid_by_invoice_or_card() -> None:
    plan, pack = terms(OrderKind.PLAN), terms(OrderKind.PACK, OrderMethod.STRIPE)
    assert (plan.facts[0], plan.total) == ("5,000 credits each month", "Total per month")
    assert (pack.facts[0], pack.total) == ("5,000 credits", "Total")
    assert (plan.back_url, pack.back_url) == ("/credits/plans/", "/credits/packs/")
    assert (plan.action, pack.action) == ("Place order", "Continue to payment")
    assert "once payment arrives" in plan.payment
    assert pack.payment.endswith("We never see your card number.")
    assert "renews each month" in terms(OrderKind.PLAN, OrderMethod.STRIPE).payment
