"""Payments of automatic orders are declined, interrupted, or not answered by Stripe.

Stripe's events arrive before, after, and instead of its responses.
"""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, User
from credits.models import AutomaticTopUp, Order, Pack, SavedCard
from credits.orders import placement
from credits.orders.quotes import quote
from credits.payments import PaymentUnavailable
from credits.payments.stripe.checkout import Stripe
from credits.wallet.books import find_discrepancies
from runtime.models import Mail
from tests.credits.automatic_top_ups.helpers import (
    CREDITS,
    audited,
    get_top_up,
    give_card,
    last_order,
    order_states,
    run_worker,
    run_worker_later,
    set_balance,
    subjects,
    switch_on_top_up,
)
from tests.credits.customers import balance
from tests.credits.payments.stripe_helpers import PlansByCode, place_order, send_event, subscribe
from tests.credits.time_travel import on
from tests.servers.stripe import FakeStripe, StripeObject

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("card_declined", "Your saved card was declined for $5.00."),
        ("authentication_required", "Your bank asks you to confirm the payment of $5.00."),
    ],
)
def test_declined_card_is_reported_with_a_link_to_pay_on_checkout(
    stripe: FakeStripe, shop: Account, code: str, sentence: str
) -> None:
    stripe.decline = code
    run_worker()
    order = last_order(shop)
    assert (order.state, balance(shop), stripe.charged) == ("pending", 100, [])
    assert (order.automatic.outcome, order.automatic.failure) == ("failed", code)
    email = Mail.objects.get()
    assert email.subject == "Automatic top-up failed: 1,000 credits"
    assert sentence in email.text
    assert f"/credits/orders/{order.public_id}/" in email.text
    assert "order.payment_failed" in audited(shop)
    Stripe().begin(order)
    assert send_event(stripe.pay(stripe.find_session(order.public_id))) == 200
    assert balance(shop) == 100 + CREDITS
    assert subjects()[-1] == "Receipt INV-000001: 1,000 credits, $5.00"


@pytest.mark.both
def test_second_failure_in_a_row_switches_off(stripe: FakeStripe, shop: Account) -> None:
    for decline in ("card_declined", "", "card_declined"):
        stripe.decline = decline
        set_balance(shop, 0)
        run_worker_later()
    top_up = get_top_up(shop)
    assert (top_up.is_on, top_up.failures) == (True, 1)
    run_worker_later()
    top_up = get_top_up(shop)
    assert (top_up.is_on, top_up.off_for) == (False, "failures")
    # The last order replaces the one before it, so that only one of them is ever paid.
    assert order_states(shop)[-2:] == ["cancelled", "pending"]
    assert audited(shop)[-1] == "top_up.switched_off"
    before = order_states(shop)
    run_worker_later()
    assert order_states(shop) == before


def test_next_order_waits_while_the_failed_one_is_paid_on_checkout(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.decline = "card_declined"
    run_worker()
    order = last_order(shop)
    Stripe().begin(order)
    paid = stripe.pay(stripe.find_session(order.public_id))
    stripe.decline = ""
    run_worker_later()
    assert order_states(shop) == ["pending"]
    assert stripe.charged == []
    send_event(paid)
    run_worker_later()
    assert order_states(shop) == ["paid"]


def test_payment_page_of_a_failed_order_closes_before_the_next_order(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.decline = "card_declined"
    run_worker()
    failed = last_order(shop)
    Stripe().begin(failed)
    stripe.decline = ""
    run_worker_later()
    assert stripe.open_sessions(failed.public_id) == []
    assert order_states(shop) == ["cancelled", "paid"]


def test_order_that_is_being_paid_has_no_payment_page(stripe: FakeStripe, shop: Account) -> None:
    stripe.lost = {"confirm"}
    run_worker()
    order = last_order(shop)
    with pytest.raises(PaymentUnavailable, match="with your saved card"):
        Stripe().begin(order)


def test_unavailable_provider_delays_the_order_and_is_no_failure(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.is_down = True
    run_worker()
    assert (order_states(shop), subjects()) == (["pending"], [])
    stripe.is_down = False
    run_worker()
    assert order_states(shop) == ["pending"]
    run_worker_later(minutes=1)
    assert (order_states(shop), len(stripe.charged)) == (["paid"], 1)


@pytest.mark.both
@pytest.mark.parametrize(
    ("action", "is_switched_off"), [("create", False), ("confirm", False), ("confirm", True)]
)
def test_payment_whose_response_was_lost_is_charged_and_granted_once(
    stripe: FakeStripe, shop: Account, action: str, is_switched_off: bool
) -> None:
    stripe.lost = {action}
    run_worker()
    assert order_states(shop) == ["pending"]
    AutomaticTopUp.objects.update(is_on=not is_switched_off)
    stripe.lost = set()
    run_worker_later(minutes=1)
    assert (order_states(shop), len(stripe.charged)) == (["paid"], 1)
    assert balance(shop) == 100 + CREDITS


def test_card_detached_at_the_provider_is_a_failure(stripe: FakeStripe, shop: Account) -> None:
    stripe.cards[SavedCard.objects.get().provider_card]["customer"] = None
    run_worker()
    assert last_order(shop).automatic.outcome == "failed"


@pytest.mark.both
def test_one_account_that_fails_does_not_stop_the_others(
    stripe: FakeStripe, shop: Account, stranger: User, pack: Pack
) -> None:
    other = stranger.memberships.get().account
    give_card(stripe, other)
    switch_on_top_up(other)
    AutomaticTopUp.objects.filter(account=shop).update(
        # As after a repair of the database by hand: the order has no row of its own.
        open_order=placement.place_automatic_order(quote=quote(shop, pack)),
        next_attempt_at=timezone.now() - timedelta(minutes=1),
    )
    run_worker()
    assert (order_states(shop), order_states(other)) == (["pending"], ["paid"])


def payment_event(stripe: FakeStripe, kind: str, **changes: object) -> StripeObject:
    (intent,) = stripe.intents.values()
    return stripe.event(f"payment_intent.{kind}", {**intent, **changes})


def test_event_fulfills_an_order_whose_response_was_lost(stripe: FakeStripe, shop: Account) -> None:
    stripe.lost = {"confirm"}
    run_worker()
    event = payment_event(stripe, "succeeded")
    assert [send_event(event), send_event(event)] == [200, 200]
    assert send_event({**event, "id": "evt_replayed"}) == 200
    assert (order_states(shop), balance(shop)) == (["paid"], 100 + CREDITS)
    stripe.lost = set()
    run_worker_later(minutes=2)
    assert (order_states(shop), len(stripe.charged)) == (["paid"], 1)
    assert subjects() == ["Receipt INV-000001: automatic top-up of 1,000 credits, $5.00"]
    assert not list(find_discrepancies())


def test_event_after_the_response_changes_nothing_and_a_second_payment_is_recorded(
    stripe: FakeStripe, shop: Account
) -> None:
    run_worker()
    assert send_event(payment_event(stripe, "succeeded")) == 200
    assert (balance(shop), len(subjects())) == (100 + CREDITS, 1)
    assert "order.paid_twice" not in audited(shop)
    assert send_event(payment_event(stripe, "succeeded", id="pi_another")) == 200
    assert balance(shop) == 100 + CREDITS
    assert "order.paid_twice" in audited(shop)


def test_event_with_another_amount_or_currency_fulfills_nothing(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.lost = {"confirm"}
    run_worker()
    for change in ({"amount_received": 1}, {"currency": "jpy"}):
        assert send_event(payment_event(stripe, "succeeded", **change)) == 200
        assert balance(shop) == 100, change


def test_failure_is_counted_once_although_an_event_reports_it_too(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.decline = "card_declined"
    run_worker()
    assert send_event(payment_event(stripe, "payment_failed")) == 200
    assert (get_top_up(shop).failures, len(subjects())) == (1, 1)


def test_event_reports_a_failure_whose_response_was_lost(stripe: FakeStripe, shop: Account) -> None:
    stripe.decline, stripe.lost = "authentication_required", {"confirm"}
    run_worker()
    assert send_event(payment_event(stripe, "payment_failed")) == 200
    assert last_order(shop).automatic.failure == "authentication_required"
    assert "Your bank asks you to confirm" in Mail.objects.get().text


def test_payment_that_failed_on_checkout_is_reported_once_with_a_link_before_it_is_paid(
    stripe: FakeStripe, account: Account, pack: Pack
) -> None:
    order, paid = place_order(account, pack), place_order(account, pack)

    def fail(order: Order) -> int:
        intent = {"id": "pi_checkout", "metadata": {"order": order.public_id}}
        return send_event(stripe.event("payment_intent.payment_failed", intent))

    assert [fail(order), fail(order)] == [200, 200]
    email = Mail.objects.get()
    assert email.subject == "Payment failed for 1,000 credits"
    assert f"/credits/orders/{order.public_id}/" in email.text
    assert audited(account).count("order.payment_failed") == 1
    send_event(stripe.pay(stripe.find_session(paid.public_id)))
    assert fail(paid) == 200
    assert subjects() == [email.subject, "Receipt INV-000001: 1,000 credits, $5.00"]


def test_failed_renewal_is_reported_with_stripes_page(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    page = "https://pay.stripe.example/in_1"
    with on("2026-11-25"):
        subscription = subscribe(stripe, account, plans["starter"])
        for url in ("javascript:alert(1)", "https://pay.stripe.example/ next", [page], page):
            Mail.objects.all().delete()
            failed = stripe.fail_to_renew(subscription)
            failed["data"]["object"]["hosted_invoice_url"] = url
            assert send_event(failed) == 200
            email = Mail.objects.latest("pk")
            assert email.subject == "Payment for your Starter plan failed"
            assert (f"Pay on Stripe:\n{page}\n" in email.text) == (url == page)
