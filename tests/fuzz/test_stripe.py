"""Signed Stripe events that are malformed, duplicated or reordered.

They move money only once, and the balance ends at what was paid.
"""

import itertools
import json
from typing import Any, NamedTuple

import pytest
from django.test import Client
from hypothesis import strategies as st

from accounts.models import Account, User
from credits.models import Order, Pack, Plan
from credits.payments.stripe.events import HANDLERS
from tests.credits.payments.stripe_helpers import (
    WEBHOOK,
    buy,
    get_subscription,
    place_order,
    running,
    stripe,
)
from tests.fuzz.customers import assert_books_agree, snapshot_money
from tests.fuzz.exploration import explore, rolled_back
from tests.fuzz.texts import texts
from tests.servers.stripe import FakeStripe, StripeObject, sign

# In `make fuzz` the database is PostgreSQL.
pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

__all__ = ["running", "stripe"]

ids = itertools.count(1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def post(payload: bytes, signature: str) -> int:
    response = Client(headers={"Stripe-Signature": signature}).post(
        WEBHOOK, payload, content_type="application/json"
    )
    return response.status_code


def full_object(account: Account, order: Order) -> dict[str, Any]:
    """Return an object with every field that the handlers read."""
    subscription = get_subscription(account).provider_subscription
    return {
        "id": "in_any",
        "billing_reason": "subscription_cycle",
        "payment_status": "paid",
        "status": "lost",
        "currency": "usd",
        "subscription": subscription,
        "parent": {"subscription_details": {"subscription": subscription}},
        "payments": {"data": [{"payment": {"payment_intent": "pi_any"}}]},
        "payment_intent": order.provider_payment,
        "invoice": order.provider_invoice,
        "customer": "cus_1",
        "metadata": {"order": order.public_id},
        **dict.fromkeys(("amount_total", "total", "amount_paid"), order.total_cents),
        **dict.fromkeys(("amount_refunded", "amount"), order.total_cents),
    }


def test_malformed_signed_event_is_answered_and_the_books_agree(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    bought = buy(stripe, account, Plan.objects.get(code="starter"))
    template = full_object(account, bought)
    parts = sorted(template)

    def any_event(kind: str, odd: list[tuple[int, Any]], overrides: dict[str, Any]) -> None:
        payload_object = {**template, **{parts[index % len(parts)]: value for index, value in odd}}
        event = {
            "id": f"evt_odd{next(ids)}",
            "type": kind,
            "data": {"object": payload_object},
            **overrides,
        }
        payload = json.dumps(event).encode()
        with rolled_back():
            assert post(payload, sign(payload)) in {200, 400, 503}
            after_first = snapshot_money(account)()
            assert post(payload, sign(payload)) in {200, 400, 503}
            assert snapshot_money(account)() == after_first
            assert_books_agree()

    explore(
        any_event,
        quick=12,
        kind=st.sampled_from(sorted(HANDLERS)),
        odd=st.lists(st.tuples(st.integers(0, 30), json_values), max_size=3),
        overrides=st.dictionaries(st.sampled_from(["data", "created", "id", "type"]), json_values),
    )


class Purchase(NamedTuple):
    is_paid: bool
    # In percent. Each is the total refunded so far, as Stripe reports it.
    refunds: tuple[int, ...]
    is_disputed: bool

    @property
    def is_lost(self) -> bool:
        return self.is_paid and self.is_disputed and not self.refunds

    def credits_left(self, credits: int) -> int:
        if not self.is_paid or self.is_lost:
            return 0
        return credits - credits * max(self.refunds, default=0) // 100


purchases = st.builds(
    Purchase,
    st.sampled_from([True, True, True, False]),
    st.lists(st.integers(1, 100), max_size=2).map(sorted).map(tuple),
    st.booleans(),
)


def test_duplicate_and_reordered_events_end_with_the_paid_balance(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    pack = Pack.objects.earliest("credits")

    def any_order(purchased: list[Purchase], deliveries: list[int]) -> None:
        with rolled_back():
            events, late, left = [], [], 100
            for purchase in purchased:
                order = place_order(account, pack)
                session = stripe.find_session(order.public_id)
                events += _purchase_events(stripe, session, purchase)
                late += [_lost_dispute(stripe, session)] if purchase.is_lost else []
                left += purchase.credits_left(pack.credits)
            assert _deliver(events, late, deliveries) == {200}
            ((balance, _, debt),) = snapshot_money(account)()[0]
            assert (balance - debt, debt) == (left, 0)
            assert_books_agree()

    explore(
        any_order,
        quick=4,
        purchased=st.lists(purchases, min_size=1, max_size=3),
        deliveries=st.lists(st.integers(0, 30), max_size=15),
    )


def _purchase_events(
    stripe: FakeStripe, session: StripeObject, purchase: Purchase
) -> list[StripeObject]:
    if not purchase.is_paid:
        return [stripe.expire(session)]
    total = session["amount_total"]
    paid = stripe.pay(session)
    return [paid, *(stripe.refund(session, total * part // 100) for part in purchase.refunds)]


def _lost_dispute(stripe: FakeStripe, session: StripeObject) -> StripeObject:
    """Return the event that arrives weeks after the payment."""
    payment = stripe.sessions[session["id"]]["payment_intent"]
    lost = {"id": "dp_1", "payment_intent": payment, "status": "lost", "metadata": {}}
    more = {"customer": "cus_1", "amount": session["amount_total"]}
    return stripe.event("charge.dispute.closed", {**lost, **more})


def _deliver(
    events: list[StripeObject], late: list[StripeObject], deliveries: list[int]
) -> set[int]:
    """Post events in this order with repeats, then all of them twice, then the late ones."""
    for delivery in deliveries:
        _post_signed(events[delivery % len(events)])
    for _ in range(2):
        statuses = {_post_signed(event) for event in events}
    return statuses | {_post_signed(event) for event in late * 2}


def _post_signed(event: StripeObject) -> int:
    payload = json.dumps(event).encode()
    return post(payload, sign(payload))
