"""Card payments: our product asks our Stripe over HTTP, and believes signed events alone."""

import json
import time
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, User
from credits.models import Order, Pack
from credits.orders import lifecycle, refunds
from credits.payments import PaymentUnavailable, method_of, stripe_events
from credits.wallet.books import differences
from credits.wallet.charges import Charge, charge
from runtime.models import Mail
from tests.conftest import signed_in
from tests.credits.payments.cards import (
    WEBHOOK,
    Plans,
    buy,
    place,
    running,
    stripe,
    subscribe,
    subscription_of,
    tell,
    wallet_of,
)
from tests.servers.stripe import FakeStripe, sign

pytestmark = pytest.mark.django_db

__all__ = ["running", "stripe"]


def test_a_pack_is_paid_on_stripes_page_and_granted_by_its_event(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place(account, pack)
    session = stripe.session_of(order.public_id)
    assert (session["mode"], session["amount_total"], session["currency"]) == (
        "payment",
        500,
        "usd",
    )
    assert session["success_url"].endswith(f"/credits/orders/{order.public_id}/")
    assert order.provider_url == f"{stripe.url}/pay/{session['id']}"
    signed_in(owner).get(session["success_url"])
    assert wallet_of(account) == (100, 0)
    assert tell(stripe.pay(session)) == 200
    assert wallet_of(account) == (1_100, 0)
    order.refresh_from_db()
    assert (order.state, order.method, order.invoice_number) == ("paid", "stripe", 1)
    assert Mail.objects.filter(subject__startswith="Receipt INV-000001").count() == 1


@pytest.mark.parametrize(
    "forgery", ["none", "wrong", "old", "future", "moved", "nonsense", "another secret"]
)
def test_a_forged_event_gets_nothing(
    stripe: FakeStripe, account: Account, pack: Pack, forgery: str
) -> None:
    event = stripe.pay(stripe.session_of(place(account, pack).public_id))
    payload = json.dumps(event).encode()
    signature = {
        "none": "",
        "wrong": sign(payload)[:-4] + "0000",
        "old": sign(payload, age=301),
        # Far enough ahead for a busy machine.
        "future": sign(payload, age=-400),
        "moved": sign(b"{}"),
        "nonsense": "t=now,v1=,v0=x",
        "another secret": sign(payload, secret="whsec_another"),
    }[forgery]
    assert tell(event, signature) == 400
    assert wallet_of(account) == (100, 0)


@pytest.mark.parametrize("age", [-250, 250])
def test_a_clock_that_is_a_few_minutes_off_is_tolerated(
    stripe: FakeStripe, account: Account, pack: Pack, age: int
) -> None:
    event = stripe.pay(stripe.session_of(place(account, pack).public_id))
    assert tell(event, sign(json.dumps(event).encode(), age=age)) == 200
    assert wallet_of(account) == (1_100, 0)


def test_without_stripe_there_is_no_webhook(account: Account) -> None:
    assert tell({"id": "evt_1", "type": "invoice.paid", "data": {"object": {}}}) == 404


@pytest.mark.parametrize(
    "event",
    [
        {"id": "evt_x", "type": "invoice.paid", "data": {"object": {"id": "in_x"}}},
        {"id": "evt_y", "type": "something.new", "data": {"object": {}}},
        {"id": "evt_z", "type": "charge.refunded", "data": {"object": {"amount_refunded": 5}}},
        {"id": "evt_v", "type": "checkout.session.completed", "data": {"object": {"id": "x"}}},
    ],
)
def test_an_event_of_somebody_elses_sale_changes_nothing(
    stripe: FakeStripe, account: Account, event: dict[str, Any]
) -> None:
    assert tell(event) == 200
    assert wallet_of(account) == (100, 0)


def test_an_event_of_another_amount_or_currency_grants_nothing(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    session = stripe.session_of(place(account, pack).public_id)
    for change in ({"amount_total": 1}, {"currency": "jpy"}, {"payment_status": "unpaid"}):
        event = stripe.pay(session)
        event["data"]["object"] |= change
        tell(event)
    assert wallet_of(account) == (100, 0)


@pytest.mark.parametrize(
    "payload",
    [
        *(b"", b"[]", b"null", b"1", b'"x"', b"{}", b"NaN", b"{", b"\xff", b"[" * 200_000),
        *(b'{"a":' * 5_000, b'{"type": [], "id": "evt_a"}', b'{"type": "invoice.paid", "id": 5}'),
        b'{"type": "invoice.paid", "id": "' + b"x" * 300 + b'"}',
    ],
)
def test_a_signed_body_that_is_no_event_is_refused_cleanly(
    stripe: FakeStripe, account: Account, payload: bytes
) -> None:
    answer = Client(raise_request_exception=False).post(
        WEBHOOK,
        payload,
        content_type="application/json",
        headers={"Stripe-Signature": sign(payload)},
    )
    assert answer.status_code == 400


# More of them: tests/fuzz/test_stripe.py.
ODD: list[Any] = [None, "1500", -1, 2**63, {"id": 1}]


@pytest.mark.anywhere
@pytest.mark.parametrize("kind", stripe_events.HANDLERS)
def test_an_odd_part_of_a_signed_event_never_breaks_and_never_moves_money(
    stripe: FakeStripe, account: Account, plans: Plans, kind: str
) -> None:
    order = buy(stripe, account, plans["starter"])
    known = subscription_of(account).provider_subscription
    whole = {
        "id": "in_odd",
        "billing_reason": "subscription_cycle",
        "payment_status": "paid",
        "status": "lost",
        "subscription": known,
        "parent": {"subscription_details": {"subscription": known}},
        "invoice": order.provider_invoice,
        "customer": "cus_1",
        "metadata": {"order": order.public_id},
    }
    amounts = ("amount_total", "total", "amount_paid", "amount_refunded", "amount")
    events = []
    for odd in ODD:
        things = [{**whole, **dict.fromkeys(amounts, odd)}, odd]
        things += [{**whole, part: odd} for part in whole]
        events += [stripe.event(kind, thing) for thing in things]
        events += [{**stripe.event(kind, whole), part: odd} for part in ("data", "created")]
    for event in events:
        assert tell(event) in {200, 400, 503}
    assert wallet_of(account) == (5_100, 0)


@pytest.mark.parametrize("change", [{"amount_paid": 1}, {"currency": "jpy"}, {"total": 149_999}])
def test_a_renewal_of_an_amount_that_is_no_plans_is_for_staff_to_look_at(
    stripe: FakeStripe, account: Account, plans: Plans, change: dict[str, Any]
) -> None:
    known = subscribe(stripe, account, plans["starter"])
    assert tell(stripe.renew(known, 1_500, **change)) == 200
    assert wallet_of(account) == (5_100, 0)
    assert account.audit_entries.filter(action="order.odd_payment").count() == 1


def test_the_same_event_twice_grants_once(stripe: FakeStripe, account: Account, pack: Pack) -> None:
    event = stripe.pay(stripe.session_of(place(account, pack).public_id))
    assert [tell(event), tell(event)] == [200, 200]
    again = {**event, "id": "evt_of_the_same_payment"}
    assert tell(again) == 200
    assert wallet_of(account) == (1_100, 0)
    assert not list(differences())


def test_a_page_that_ran_out_cancels_its_order_and_a_late_payment_is_honoured(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place(account, pack)
    session = stripe.session_of(order.public_id)
    tell(stripe.expire(session))
    order.refresh_from_db()
    assert order.state == "cancelled"
    tell(stripe.pay(session))
    assert wallet_of(account) == (1_100, 0)


def test_events_out_of_order_end_the_same(stripe: FakeStripe, account: Account, pack: Pack) -> None:
    """The refund is told before the payment it refunds."""
    session = stripe.session_of(place(account, pack).public_id)
    paid = stripe.pay(session)
    assert tell(stripe.refund(session, 500)) == 200
    assert tell(paid) == 200
    assert wallet_of(account) == (100, 0)
    assert Order.objects.get().state == "refunded"
    assert not list(differences())


def test_a_refund_of_spent_credits_is_a_debt(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = buy(stripe, account, pack)
    charge(Charge(account=account, key=None, verdict="risky", cost=600, duration_ms=1))
    refund = stripe.refund(stripe.session_of(order.public_id), 500)
    assert [tell(refund), tell(refund)] == [200, 200]
    assert wallet_of(account) == (0, 500)
    assert Mail.objects.filter(subject__startswith="Refund of INV-000001").count() == 1


def test_a_part_that_is_refunded_takes_its_share(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    session = stripe.session_of(buy(stripe, account, pack).public_id)
    tell(stripe.refund(session, 200))
    tell(stripe.refund(session, 100))
    assert wallet_of(account) == (700, 0)
    tell(stripe.refund(session, 500))
    assert wallet_of(account) == (100, 0)


def test_a_refund_by_staff_goes_through_stripe_and_is_booked_once(
    stripe: FakeStripe, account: Account, pack: Pack, staff: User
) -> None:
    order = buy(stripe, account, pack)
    method_of(order).refund(order)
    refunds.refund_order(order=order, actor=staff, reason="By mistake")
    assert stripe.refunds == [{"payment_intent": order.provider_payment, "amount": "500"}]
    tell(stripe.refund(stripe.session_of(order.public_id), 500))
    assert wallet_of(account) == (100, 0)


def test_a_stripe_that_is_down_is_told_and_the_order_waits(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    stripe.is_down = True
    order = lifecycle.start_order(
        account=account, item=pack, buyer=lifecycle.Buyer("Shop"), actor=owner
    )
    with pytest.raises(PaymentUnavailable, match="Nothing was charged"):
        method_of(order).begin(order)
    stripe.is_down = False
    method_of(order).begin(order)
    assert order.provider_url


def test_no_card_number_field_is_on_any_page_of_ours(
    stripe: FakeStripe, owner: User, pack: Pack
) -> None:
    page = signed_in(owner).get(f"/credits/packs/{pack.public_id}/").content.decode()
    assert "Go on to the payment" in page
    assert "cc-number" not in page
    assert "we never see your card" in page


def test_an_open_payment_page_is_used_again(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place(account, pack)
    first = order.provider_session
    method_of(order).begin(order)
    assert order.provider_session == first
    assert stripe.open_sessions(order.public_id) == [first]


def test_an_expired_payment_page_is_replaced(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place(account, pack)
    stripe.expire(stripe.session_of(order.public_id))
    method_of(order).begin(order)
    order.refresh_from_db()
    assert stripe.open_sessions(order.public_id) == [order.provider_session]
    assert order.provider_url.endswith(order.provider_session)


def test_a_paid_page_is_not_replaced_before_its_event_arrives(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place(account, pack)
    stripe.pay(stripe.session_of(order.public_id))
    method_of(order).begin(order)
    assert not stripe.open_sessions(order.public_id)


def test_an_order_that_is_cancelled_while_its_page_opens_leaves_no_open_page(
    stripe: FakeStripe, account: Account, pack: Pack, owner: User
) -> None:
    order = lifecycle.start_order(
        account=account, item=pack, buyer=lifecycle.Buyer("Shop"), actor=owner
    )
    stale = Order.objects.get(pk=order.pk)
    method_of(order).begin(order)
    lifecycle.cancel_order(order=order)
    # It was read before the page was opened.
    method_of(stale).withdraw(stale)
    method_of(stale).begin(stale)
    assert stripe.open_sessions(order.public_id) == []


def test_the_refund_of_a_second_payment_takes_nothing_of_the_first(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place(account, pack)
    session = stripe.session_of(order.public_id)
    tell(stripe.pay(session))
    twice = stripe.pay({**session})
    tell(twice)
    payment = twice["data"]["object"]["payment_intent"]
    metadata = {"order": order.public_id}
    assert tell(stripe.refund_of(payment, 500, customer="cus_1", metadata=metadata)) == 200
    assert wallet_of(account) == (1_100, 0)


def test_what_the_bank_takes_back_for_good_is_a_refund(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = buy(stripe, account, pack)
    dispute = {"payment_intent": order.provider_payment, "amount": 500}
    tell(stripe.event("charge.dispute.closed", {**dispute, "status": "won"}))
    assert wallet_of(account) == (1_100, 0)
    tell(stripe.event("charge.dispute.closed", {**dispute, "status": "lost"}))
    assert wallet_of(account) == (100, 0)


def test_an_order_marked_paid_by_hand_is_given_back_by_hand(
    stripe: FakeStripe, account: Account, pack: Pack, staff: User
) -> None:
    order = place(account, pack)
    lifecycle.fulfil_order(order=order, actor=staff)
    method_of(order).refund(order)
    assert not stripe.refunds


def test_a_refund_of_another_sale_to_our_customer_is_waited_for_a_day_and_no_longer(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    buy(stripe, account, pack)
    refund = stripe.refund_of("pi_of_another_sale", 100, customer="cus_1")
    assert tell({**refund, "created": time.time() - 60}) == 503
    assert tell({**refund, "created": time.time() - 90_000}) == 200
    assert wallet_of(account) == (1_100, 0)


def test_a_payment_that_fails_after_all_cancels_its_order(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place(account, pack)
    session = stripe.session_of(order.public_id)
    tell(stripe.event("checkout.session.async_payment_failed", session))
    order.refresh_from_db()
    assert order.state == "cancelled"
