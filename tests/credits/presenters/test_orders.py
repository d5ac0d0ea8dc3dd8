"""What pages say about orders and on invoices."""

from datetime import UTC, date, datetime

import pytest
import time_machine

from accounts.presenters.elements import Badge
from credits.models import Order, OrderState
from credits.presenters.orders import (
    due_date,
    invoice_stamp,
    order_badge,
    order_outcome,
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


@pytest.mark.parametrize(
    ("shown", "verb", "text"),
    [
        (order(OrderState.PAID), "Paid", "1,000 credits were added to your balance."),
        (order(OrderState.PAID, credits=1), "Paid", "1 credit was added to your balance."),
        (order(OrderState.PAID, cents=0, credits=0), "Assigned", ""),
        (
            order(OrderState.PAID, refunded_cents=100),
            "Paid",
            "1,000 credits were added to your balance. "
            "Credits for the refunded $1.00 were deducted.",
        ),
        (order(OrderState.REFUNDED), "Refunded", "Its credits were deducted."),
        (order(OrderState.CANCELLED), "Canceled", "Nothing is due."),
    ],
)
def test_outcome_says_what_happened_to_the_credits(shown: Order, verb: str, text: str) -> None:
    outcome = order_outcome(shown)
    assert outcome is not None
    assert (outcome.verb, outcome.at, outcome.text) == (verb, MOMENT, text)


@pytest.mark.parametrize(
    ("shown", "stamp"),
    [
        (order(OrderState.PENDING), ""),
        (order(OrderState.PAID), "Paid on 20 Nov 2026"),
        (
            order(OrderState.PAID, refunded_cents=100),
            "Paid on 20 Nov 2026. $1.00 was refunded.",
        ),
        (order(OrderState.REFUNDED), "Refunded on 20 Nov 2026"),
        (order(OrderState.CANCELLED), "Canceled on 20 Nov 2026. Nothing is due."),
    ],
)
def test_invoice_is_stamped_once_the_order_has_ended(shown: Order, stamp: str) -> None:
    assert invoice_stamp(shown) == stamp
