"""Stripe's events about automatic orders arrive before, after, and instead of its responses."""

import pytest

from accounts.models import Account, User
from credits.models import Order, Pack
from credits.wallet.books import find_discrepancies
from runtime.models import Mail
from tests.credits.automatic_top_ups.helpers import (
    CREDITS,
    audited,
    get_balance,
    get_top_up,
    last_order,
    order_states,
    run_worker,
    run_worker_later,
    subjects,
)
from tests.credits.payments.stripe_helpers import (
    PlansByCode,
    place_order,
    send_event,
    subscribe,
)
from tests.credits.time_travel import on
from tests.servers.stripe import FakeStripe, StripeObject

pytestmark = pytest.mark.django_db


def payment_event(stripe: FakeStripe, kind: str, **changes: object) -> StripeObject:
    (intent,) = stripe.intents.values()
    return stripe.event(f"payment_intent.{kind}", {**intent, **changes})


def test_event_fulfills_an_order_whose_response_was_lost(stripe: FakeStripe, shop: Account) -> None:
    stripe.lost = {"confirm"}
    run_worker()
    event = payment_event(stripe, "succeeded")
    assert [send_event(event), send_event(event)] == [200, 200]
    assert send_event({**event, "id": "evt_replayed"}) == 200
    assert (order_states(shop), get_balance(shop)) == (["paid"], 100 + CREDITS)
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
    assert (get_balance(shop), len(subjects())) == (100 + CREDITS, 1)
    assert "order.paid_twice" not in audited(shop)
    assert send_event(payment_event(stripe, "succeeded", id="pi_another")) == 200
    assert get_balance(shop) == 100 + CREDITS
    assert "order.paid_twice" in audited(shop)


@pytest.mark.parametrize("change", [{"amount_received": 1}, {"currency": "jpy"}])
def test_event_with_another_amount_or_currency_fulfills_nothing(
    stripe: FakeStripe, shop: Account, change: dict[str, object]
) -> None:
    stripe.lost = {"confirm"}
    run_worker()
    assert send_event(payment_event(stripe, "succeeded", **change)) == 200
    assert get_balance(shop) == 100


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


@pytest.mark.parametrize(
    ("url", "is_linked"),
    [
        ("https://pay.stripe.example/in_1", True),
        ("javascript:alert(1)", False),
        ("https://pay.stripe.example/ next", False),
        (["https://pay.stripe.example/in_1"], False),
    ],
)
def test_failed_renewal_is_reported_with_stripes_page(
    stripe: FakeStripe, account: Account, owner: User, plans: PlansByCode, url: str, is_linked: bool
) -> None:
    with on("2026-11-25"):
        failed = stripe.fail_to_renew(subscribe(stripe, account, plans["starter"]))
        failed["data"]["object"]["hosted_invoice_url"] = url
        assert send_event(failed) == 200
    email = Mail.objects.latest("pk")
    assert email.subject == "Payment for your Starter plan failed"
    assert ("Pay on Stripe:\nhttps://pay.stripe.example/in_1\n" in email.text) == is_linked
