"""Card payments: requests to a fake Stripe over HTTP, and its signed events."""

import json
import time
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, User
from credits.models import Order, Pack
from credits.orders import fulfillment, placement, refunds
from credits.payments import PaymentUnavailable
from credits.payments.stripe import events
from credits.payments.stripe.checkout import Stripe
from credits.payments.stripe.payloads import find_order_for_charge
from credits.wallet.books import find_discrepancies
from runtime.models import Mail
from tests.conftest import signed_in
from tests.credits import customers
from tests.credits.customers import balance_and_debt
from tests.credits.payments.stripe_helpers import (
    WEBHOOK,
    PlansByCode,
    buy,
    place_order,
    send_event,
    subscribe,
)
from tests.servers.stripe import FakeStripe, sign
from tests.support.metrics import Increases

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_requests_to_stripe_are_counted_by_outcome(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    increases = Increases()
    place_order(account, pack)
    stripe.is_down = True
    with pytest.raises(PaymentUnavailable):
        place_order(account, pack)
    counted = increases.of("payment_provider_requests_total")
    assert counted[("answered",)] >= 1
    assert counted[("failed",)] == 1


@pytest.mark.both
def test_pack_is_paid_at_stripe_and_granted_once_by_its_events(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    session = stripe.find_session(order.public_id)
    terms = (session["mode"], session["amount_total"], session["currency"])
    assert terms == ("payment", 500, "usd")
    page = f"/credits/orders/{order.public_id}/"
    assert session["success_url"].endswith(f"{page}?payment=finished")
    assert session["cancel_url"].endswith(page)
    assert order.provider_url == f"{stripe.url}/pay/{session['id']}"
    signed_in(owner).get(session["success_url"])
    assert balance_and_debt(account) == (100, 0)
    event = stripe.pay(session)
    again = {**event, "id": "evt_of_the_same_payment"}
    assert [send_event(event), send_event(event), send_event(again)] == [200, 200, 200]
    assert balance_and_debt(account) == (1_100, 0)
    order.refresh_from_db()
    assert (order.state, order.method, order.invoice_number) == ("paid", "stripe", 1)
    assert Mail.objects.filter(subject__startswith="Receipt INV-000001").count() == 1
    assert not list(find_discrepancies())


def test_event_with_an_invalid_signature_is_refused(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    event = stripe.pay(stripe.find_session(place_order(account, pack).public_id))
    payload = json.dumps(event).encode()
    # The ages are beyond the tolerance even on a slow machine.
    for signature in (
        *("", sign(payload)[:-4] + "0000", sign(b"{}"), "t=now,v1=,v0=x"),
        *(sign(payload, age=301), sign(payload, age=-400), sign(payload, secret="whsec_another")),
    ):
        assert send_event(event, signature) == 400, signature
    assert balance_and_debt(account) == (100, 0)


@pytest.mark.parametrize("age", [-250, 250])
def test_clock_that_is_a_few_minutes_off_is_tolerated(
    stripe: FakeStripe, account: Account, pack: Pack, age: int
) -> None:
    event = stripe.pay(stripe.find_session(place_order(account, pack).public_id))
    assert send_event(event, sign(json.dumps(event).encode(), age=age)) == 200
    assert balance_and_debt(account) == (1_100, 0)


def test_webhook_is_404_without_stripe_settings() -> None:
    assert send_event({"id": "evt_1", "type": "invoice.paid", "data": {"object": {}}}) == 404


def test_event_of_an_unrelated_sale_has_no_effect(stripe: FakeStripe, account: Account) -> None:
    for name, kind, found in (
        ("evt_x", "invoice.paid", {"id": "in_x"}),
        ("evt_y", "something.new", {}),
        ("evt_z", "charge.refunded", {"amount_refunded": 5}),
        ("evt_v", "checkout.session.completed", {"id": "x"}),
    ):
        assert send_event({"id": name, "type": kind, "data": {"object": found}}) == 200, kind
    assert balance_and_debt(account) == (100, 0)


def test_event_with_another_amount_or_currency_grants_nothing(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    session = stripe.find_session(place_order(account, pack).public_id)
    for change in ({"amount_total": 1}, {"currency": "jpy"}, {"payment_status": "unpaid"}):
        event = stripe.pay(session)
        event["data"]["object"] |= change
        send_event(event)
    assert balance_and_debt(account) == (100, 0)


def test_signed_body_that_is_not_an_event_is_refused(stripe: FakeStripe) -> None:
    client = Client(raise_request_exception=False)
    for payload in (
        *(b"", b"[]", b"null", b"1", b'"x"', b"{}", b"NaN", b"{", b"\xff", b"[" * 200_000),
        *(b'{"a":' * 5_000, b'{"type": [], "id": "evt_a"}', b'{"type": "invoice.paid", "id": 5}'),
        b'{"type": "invoice.paid", "id": "' + b"x" * 300 + b'"}',
    ):
        headers = {"Stripe-Signature": sign(payload)}
        response = client.post(WEBHOOK, payload, content_type="application/json", headers=headers)
        assert response.status_code == 400, payload[:50]


def test_renewal_with_the_amount_of_no_plan_is_recorded_for_staff(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    stripe_id = subscribe(stripe, account, plans["starter"])
    changes = ({"amount_paid": 1}, {"currency": "jpy"}, {"total": 149_999})
    for change in changes:
        assert send_event(stripe.renew(stripe_id, 1_500, **change)) == 200, change
    assert balance_and_debt(account) == (5_100, 0)
    assert account.audit_entries.filter(action="order.odd_payment").count() == len(changes)


@pytest.mark.both
@pytest.mark.parametrize("kind", ["expired", "async_payment_failed"])
def test_expired_page_or_failed_payment_cancels_its_order_and_a_late_payment_is_fulfilled(
    stripe: FakeStripe, account: Account, pack: Pack, kind: str
) -> None:
    order = place_order(account, pack)
    session = stripe.find_session(order.public_id)
    if kind == "expired":
        send_event(stripe.expire(session))
    else:
        send_event(stripe.event(f"checkout.session.{kind}", session))
    order.refresh_from_db()
    assert order.state == "cancelled"
    send_event(stripe.pay(session))
    assert balance_and_debt(account) == (1_100, 0)


@pytest.mark.both
def test_refund_event_before_its_payment_event_has_the_same_result(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    """The refund is reported before the payment it refunds."""
    session = stripe.find_session(place_order(account, pack).public_id)
    paid = stripe.pay(session)
    assert send_event(stripe.refund(session, 500)) == 200
    assert send_event(paid) == 200
    assert balance_and_debt(account) == (100, 0)
    assert Order.objects.get().state == "refunded"
    assert not list(find_discrepancies())


def test_refund_by_staff_goes_through_stripe_and_is_recorded_once(
    stripe: FakeStripe, account: Account, pack: Pack, staff: User
) -> None:
    order = buy(stripe, account, pack)
    Stripe().refund(order, order.total_cents)
    refunds.refund_order(order=order, actor=staff, reason="By mistake")
    assert stripe.refunds == [{"payment_intent": order.provider_payment, "amount": "500"}]
    send_event(stripe.refund(stripe.find_session(order.public_id), 500))
    assert balance_and_debt(account) == (100, 0)


def test_payment_page_is_reused_while_it_is_open_and_replaced_unless_it_was_paid(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place_order(account, pack)
    first = order.provider_session
    Stripe().begin(order)
    assert stripe.open_sessions(order.public_id) == [first]
    stripe.expire(stripe.find_session(order.public_id))
    Stripe().begin(order)
    order.refresh_from_db()
    assert stripe.open_sessions(order.public_id) == [order.provider_session]
    assert order.provider_session != first
    assert order.provider_url.endswith(order.provider_session)
    # Its event hasn't arrived.
    stripe.pay(stripe.find_session(order.public_id))
    assert not Stripe().begin(order)
    assert not stripe.open_sessions(order.public_id)


def test_order_cancelled_while_its_page_opens_leaves_no_open_page(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = customers.place_order(account, pack)
    stale = Order.objects.get(pk=order.pk)
    Stripe().begin(order)
    placement.cancel_order(order=order)
    # `stale` was read before the page was opened.
    Stripe().withdraw(stale)
    Stripe().begin(stale)
    assert stripe.open_sessions(order.public_id) == []


def test_refund_of_a_second_payment_leaves_the_first_unchanged(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order = place_order(account, pack)
    session = stripe.find_session(order.public_id)
    send_event(stripe.pay(session))
    twice = stripe.pay({**session})
    send_event(twice)
    payment = twice["data"]["object"]["payment_intent"]
    metadata = {"order": order.public_id}
    assert (
        send_event(stripe.refund_payment(payment, 500, customer="cus_1", metadata=metadata)) == 200
    )
    assert balance_and_debt(account) == (1_100, 0)


def test_lost_dispute_is_a_refund(stripe: FakeStripe, account: Account, pack: Pack) -> None:
    order = buy(stripe, account, pack)
    dispute = {"payment_intent": order.provider_payment, "amount": 500}
    send_event(stripe.event("charge.dispute.closed", {**dispute, "status": "won"}))
    assert balance_and_debt(account) == (1_100, 0)
    send_event(stripe.event("charge.dispute.closed", {**dispute, "status": "lost"}))
    assert balance_and_debt(account) == (100, 0)


@pytest.mark.both
def test_lost_dispute_adds_to_a_refund_recorded_at_the_same_time(
    stripe: FakeStripe, account: Account, pack: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = buy(stripe, account, pack)

    def find_before_a_refund(dispute: dict[str, Any]) -> Order | None:
        found = find_order_for_charge(dispute)
        refunds.refund_order(order=order, cents=200, reported_by_provider=True)
        return found

    monkeypatch.setattr(events, "find_order_for_charge", find_before_a_refund)
    dispute = {"payment_intent": order.provider_payment, "amount": 300, "status": "lost"}
    assert send_event(stripe.event("charge.dispute.closed", dispute)) == 200
    assert balance_and_debt(account) == (100, 0)


def test_order_marked_paid_by_staff_is_not_refunded_at_stripe(
    stripe: FakeStripe, account: Account, pack: Pack, staff: User
) -> None:
    order = place_order(account, pack)
    fulfillment.fulfill_order(order=order, actor=staff)
    Stripe().refund(order, order.total_cents)
    assert not stripe.refunds


def test_refund_of_an_unknown_sale_to_our_customer_is_retried_for_a_day(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    buy(stripe, account, pack)
    refund = stripe.refund_payment("pi_of_another_sale", 100, customer="cus_1")
    assert send_event({**refund, "created": time.time() - 60}) == 503
    assert send_event({**refund, "created": time.time() - 90_000}) == 200
    assert balance_and_debt(account) == (1_100, 0)
