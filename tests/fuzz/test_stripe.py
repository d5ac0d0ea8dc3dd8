"""Events of Stripe, changed, forged, doubled and in any order: only what is signed moves money,
once, and in the end what was paid is there."""

import hashlib
import hmac
import itertools
import json
import time
from typing import Any, NamedTuple

import pytest
from django.test import Client
from hypothesis import assume
from hypothesis import strategies as st

from accounts.models import Account, User
from credits.models import Order, Pack, Plan
from credits.payments import stripe_events
from tests.credits.payments.cards import WEBHOOK, buy, place, running, stripe, subscription_of
from tests.fuzz.cast import assert_books_agree, money_of
from tests.fuzz.effort import explore, undone
from tests.fuzz.texts import texts
from tests.servers.stripe import WEBHOOK_SECRET, FakeStripe, Thing, sign

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
    answer = Client(headers={"Stripe-Signature": signature}).post(
        WEBHOOK, payload, content_type="application/json"
    )
    return answer.status_code


def wholes(account: Account, order: Order) -> dict[str, Any]:
    """An object that has everything an event may tell."""
    known = subscription_of(account).provider_subscription
    return {
        "id": "in_any",
        "billing_reason": "subscription_cycle",
        "payment_status": "paid",
        "status": "lost",
        "currency": "usd",
        "subscription": known,
        "parent": {"subscription_details": {"subscription": known}},
        "payments": {"data": [{"payment": {"payment_intent": "pi_any"}}]},
        "payment_intent": order.provider_payment,
        "invoice": order.provider_invoice,
        "customer": "cus_1",
        "metadata": {"order": order.public_id},
        **dict.fromkeys(("amount_total", "total", "amount_paid"), order.total_cents),
        **dict.fromkeys(("amount_refunded", "amount"), order.total_cents),
    }


class Forgery(NamedTuple):
    """What is done to a signed event on its way."""

    secret: str = WEBHOOK_SECRET
    age: int = 0
    scheme: str = "v1"
    changes: tuple[tuple[int, bytes], ...] = ()
    signature: str | None = None


forgeries = st.one_of(
    st.builds(Forgery, secret=texts.filter(lambda text: text != WEBHOOK_SECRET)),
    st.builds(Forgery, age=st.integers(330, 10**9)),
    st.builds(Forgery, scheme=st.sampled_from(["v0", "V1", "v2", ""])),
    st.builds(Forgery, signature=texts),
    st.builds(
        Forgery,
        changes=st.lists(
            st.tuples(st.integers(0, 500), st.binary(min_size=1, max_size=2)),
            min_size=1,
            max_size=2,
        ).map(tuple),
    ),
)


def test_a_forged_event_moves_nothing(stripe: FakeStripe, account: Account, owner: User) -> None:
    bought = buy(stripe, account, Plan.objects.get(code="starter"))
    waiting = place(account, Pack.objects.earliest("credits"))
    paid = stripe.pay(stripe.session_of(waiting.public_id))
    events = [paid, *(stripe.event(one, wholes(account, bought)) for one in stripe_events.HANDLERS)]
    money = money_of(account)

    def any_forgery(which: int, forgery: Forgery) -> None:
        payload = json.dumps(events[which % len(events)]).encode()
        sent = payload
        for at, put in forgery.changes:
            sent = sent[:at] + put + sent[at + len(put) :]
        assume(sent != payload or not forgery.changes)
        signature = _signature(payload, forgery) if forgery.signature is None else forgery.signature
        before = money()
        with undone():
            # A header takes no line ends, nor what is beyond Latin-1.
            assert post(sent, "".join(one for one in signature if " " <= one <= "ÿ")) == 400
            assert money() == before

    explore(any_forgery, quick=20, which=st.integers(0, 20), forgery=forgeries)


def _signature(payload: bytes, forgery: Forgery) -> str:
    moment = int(time.time()) - forgery.age
    signed = f"{moment}.".encode() + payload
    secret = forgery.secret.encode("utf-8", "replace")
    return f"t={moment},{forgery.scheme}={hmac.new(secret, signed, hashlib.sha256).hexdigest()}"


def test_an_odd_event_that_is_signed_is_answered_and_the_books_agree(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    bought = buy(stripe, account, Plan.objects.get(code="starter"))
    whole = wholes(account, bought)
    parts = sorted(whole)

    def any_event(kind: str, odd: list[tuple[int, Any]], around: dict[str, Any]) -> None:
        thing = {**whole, **{parts[place % len(parts)]: value for place, value in odd}}
        event = {"id": f"evt_odd{next(ids)}", "type": kind, "data": {"object": thing}, **around}
        payload = json.dumps(event).encode()
        with undone():
            assert post(payload, sign(payload)) in {200, 400, 503}
            once = money_of(account)()
            assert post(payload, sign(payload)) in {200, 400, 503}
            assert money_of(account)() == once
            assert_books_agree()

    explore(
        any_event,
        quick=12,
        kind=st.sampled_from(sorted(stripe_events.HANDLERS)),
        odd=st.lists(st.tuples(st.integers(0, 30), json_values), max_size=3),
        around=st.dictionaries(st.sampled_from(["data", "created", "id", "type"]), json_values),
    )


class Bought(NamedTuple):
    is_paid: bool
    # In percent, and altogether, as Stripe tells it with each.
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
    Bought,
    st.sampled_from([True, True, True, False]),
    st.lists(st.integers(1, 100), max_size=2).map(sorted).map(tuple),
    st.booleans(),
)


def test_events_doubled_and_in_any_order_end_in_what_was_paid(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    pack = Pack.objects.earliest("credits")

    def any_order(bought: list[Bought], turns: list[int]) -> None:
        with undone():
            events, late, left = [], [], 100
            for one in bought:
                order = place(account, pack)
                session = stripe.session_of(order.public_id)
                events += _events_of(stripe, session, one)
                late += [_lost_dispute(stripe, session)] if one.is_lost else []
                left += one.credits_left(pack.credits)
            assert _deliver(events, late, turns) == {200}
            ((balance, debt),) = money_of(account)()[0]
            assert (balance - debt, debt) == (left, 0)
            assert_books_agree()

    explore(
        any_order,
        quick=4,
        bought=st.lists(purchases, min_size=1, max_size=3),
        turns=st.lists(st.integers(0, 30), max_size=15),
    )


def _events_of(stripe: FakeStripe, session: Thing, bought: Bought) -> list[Thing]:
    if not bought.is_paid:
        return [stripe.expire(session)]
    total = session["amount_total"]
    paid = stripe.pay(session)
    return [paid, *(stripe.refund(session, total * part // 100) for part in bought.refunds)]


def _lost_dispute(stripe: FakeStripe, session: Thing) -> Thing:
    """Weeks after the payment was told."""
    payment = stripe.sessions[session["id"]]["payment_intent"]
    lost = {"id": "dp_1", "payment_intent": payment, "status": "lost", "metadata": {}}
    more = {"customer": "cus_1", "amount": session["amount_total"]}
    return stripe.event("charge.dispute.closed", {**lost, **more})


def _deliver(events: list[Thing], late: list[Thing], turns: list[int]) -> set[int]:
    """First as the turns say, some of them twice; then all, until none asks to come again."""
    for turn in turns:
        _tell(events[turn % len(events)])
    for _ in range(2):
        told = {_tell(event) for event in events}
    return told | {_tell(event) for event in late * 2}


def _tell(event: Thing) -> int:
    payload = json.dumps(event).encode()
    return post(payload, sign(payload))
