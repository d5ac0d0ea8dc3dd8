"""Plans paid by card each month: renewals, upgrades, cancellations, and failures."""

from typing import Any

import pytest

from accounts.models import Account, User
from accounts.services import close_account
from credits.models import Plan
from credits.payments import sync_all_with_provider, sync_with_provider
from credits.payments.stripe.checkout import Stripe
from credits.plans import changes
from credits.wallet.books import find_discrepancies
from runtime.models import Mail
from tests.credits.customers import balance_and_debt
from tests.credits.payments.stripe_helpers import (
    PlansByCode,
    buy,
    get_subscription,
    place_order,
    send_event,
    subscribe,
)
from tests.credits.time_travel import on, plan_and_balance, renew_plans, run_daily_jobs
from tests.servers.stripe import FakeStripe

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.mark.both
def test_plan_is_a_subscription_that_renews_automatically(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        order = place_order(account, plans["starter"])
        session = stripe.find_session(order.public_id)
        assert session["mode"] == "subscription"
        price = session["line_items"][0]["price_data"]
        assert price["recurring"] == {"interval": "month"}
        assert send_event(stripe.pay(session)) == 200
    subscription = get_subscription(account)
    first = {"billing_reason": "subscription_create"}
    assert send_event(stripe.renew(subscription.provider_subscription, 1_500, **first)) == 200
    assert (subscription.plan.code, balance_and_debt(account)) == ("starter", (5_100, 0))
    renew_plans("2026-12-20")
    assert not account.orders.pending().exists()
    with on("2026-12-25"):
        renewal = stripe.renew(subscription.provider_subscription, 1_500)
        assert [send_event(renewal), send_event({**renewal, "id": "evt_again"})] == [200, 200]
    assert balance_and_debt(account) == (10_100, 0)
    assert str(get_subscription(account).covered_until) == "2027-01-25"
    renewed = account.orders.get(kind="renewal")
    assert (renewed.state, renewed.total_cents) == ("paid", 1_500)
    assert str(renewed.period_start) == "2026-12-25"
    assert not list(find_discrepancies())


def test_failed_renewal_sends_an_email_and_ends_the_plan_after_7_days(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        stripe_id = subscribe(stripe, account, plans["starter"])
    with on("2026-12-25"):
        failed = stripe.fail_to_renew(stripe_id)
        assert [send_event(failed), send_event(failed)] == [200, 200]
    email = Mail.objects.get(subject="Payment for your Starter plan failed")
    assert "1 Jan 2027" in email.text
    run_daily_jobs("2026-12-31")
    assert get_subscription(account).plan.code == "starter"
    run_daily_jobs("2027-01-01")
    assert get_subscription(account).plan.code == "free"
    assert stripe.cancelled == [stripe_id]


def test_renewal_paid_after_the_plan_ended_restores_it(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        stripe_id = subscribe(stripe, account, plans["starter"])
    stripe.is_down = True
    renew_plans("2027-01-01")
    stripe.is_down = False
    with on("2027-01-02"):
        send_event(stripe.renew(stripe_id, 1_500))
    assert plan_and_balance(account) == ("starter", 10_100)


def test_upgrade_is_a_one_time_payment_and_raises_the_subscription_price(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    stripe_id = subscribe(stripe, account, plans["starter"])
    upgrade = place_order(account, plans["growth"])
    session = stripe.find_session(upgrade.public_id)
    assert (session["mode"], session["amount_total"]) == ("payment", 8_400)
    assert send_event(stripe.pay(session)) == 200
    assert plan_and_balance(account) == ("growth", 50_100)
    request = stripe.subscriptions[stripe_id]["asked"]
    assert request["proration_behavior"] == "none"
    assert request["items"][0]["price_data"]["unit_amount"] == "9900"
    assert get_subscription(account).provider_plan == "growth"


def test_upgrade_that_failed_to_sync_is_synced_when_the_event_is_retried(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    buy(stripe, account, plans["starter"])
    paid = stripe.pay(stripe.find_session(place_order(account, plans["growth"]).public_id))
    stripe.is_down = True
    assert send_event(paid) == 503
    assert balance_and_debt(account) == (50_100, 0)
    stripe.is_down = False
    assert send_event(paid) == 200
    assert balance_and_debt(account) == (50_100, 0)
    assert get_subscription(account).provider_plan == "growth"


def test_lower_plan_is_charged_from_the_next_month_on(
    stripe: FakeStripe, account: Account, owner: User, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        stripe_id = subscribe(stripe, account, plans["growth"])
        changes.schedule_plan(account=account, plan=plans["starter"], actor=owner)
        sync_with_provider(account)
    request = stripe.subscriptions[stripe_id]["asked"]
    assert request["items"][0]["price_data"]["unit_amount"] == "1500"
    with on("2026-12-25"):
        send_event(stripe.renew(stripe_id, 1_500))
    assert plan_and_balance(account) == ("starter", 55_100)


def test_account_that_chose_free_is_not_charged_again(
    stripe: FakeStripe, account: Account, owner: User, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        stripe_id = subscribe(stripe, account, plans["starter"])
        changes.schedule_plan(account=account, plan=plans["free"], actor=owner)
        sync_with_provider(account)
    assert stripe.subscriptions[stripe_id]["asked"] == {"cancel_at_period_end": "true"}
    renew_plans("2026-12-25")
    assert get_subscription(account).plan.code == "free"


def test_subscription_cancelled_at_stripe_lasts_until_its_paid_month_ends(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        stripe_id = subscribe(stripe, account, plans["starter"])
        send_event(stripe.event("customer.subscription.deleted", {"id": stripe_id}))
    renew_plans("2026-12-24")
    assert get_subscription(account).plan.code == "starter"
    renew_plans("2026-12-25")
    assert get_subscription(account).plan.code == "free"


@pytest.mark.both
def test_refund_of_a_renewal_is_matched_by_its_invoice(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    """Charges of subscriptions don't name our order, nor the invoice in newer API versions."""
    with on("2026-11-25"):
        order = buy(stripe, account, plans["starter"])
    stripe_id, customer = get_subscription(account).provider_subscription, "cus_1"
    with on("2026-12-25"):
        renewal = stripe.renew(stripe_id, 1_500)
        payment = stripe.invoice_payments[renewal["data"]["object"]["id"]]
        refund = stripe.refund_payment(payment, 1_500, customer=customer)
        assert send_event(refund) == 503
        assert send_event(renewal) == 200
        assert send_event(refund) == 200
    assert balance_and_debt(account) == (5_100, 0)
    first = stripe.refund(stripe.find_session(order.public_id), 1_500)
    with on("2026-12-26"):
        assert send_event(first) == 200
    assert balance_and_debt(account) == (100, 0)
    assert not list(find_discrepancies())


@pytest.mark.both
def test_plan_paid_on_two_pages_is_one_subscription_and_recorded_for_staff(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    """The first page could not be expired in time."""
    order = place_order(account, plans["starter"])
    first = stripe.find_session(order.public_id)
    Stripe().begin(order)
    second = stripe.find_session(order.public_id)
    assert send_event(stripe.pay(first)) == 200
    stripe_id = get_subscription(account).provider_subscription
    paid_again = stripe.pay(second)
    assert send_event(paid_again) == 200
    assert get_subscription(account).provider_subscription == stripe_id
    assert stripe.cancelled == [paid_again["data"]["object"]["subscription"]]
    assert balance_and_debt(account) == (5_100, 0)
    assert account.audit_entries.filter(action="order.paid_twice").count() == 1


def test_resent_old_event_does_not_end_a_newer_subscription(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        first = stripe.pay(stripe.find_session(place_order(account, plans["starter"]).public_id))
        send_event(first)
        old = get_subscription(account).provider_subscription
    renew_plans("2027-01-01")
    assert stripe.cancelled == [old]
    with on("2027-01-02"):
        new = subscribe(stripe, account, plans["growth"])
        assert [send_event(first), send_event({**first, "id": "evt_resent"})] == [200, 200]
    assert get_subscription(account).provider_subscription == new
    assert stripe.cancelled == [old]


def test_plan_ordered_in_the_grace_period_cancels_the_old_subscription(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    with on("2026-11-25"):
        old = subscribe(stripe, account, plans["starter"])
    with on("2026-12-27"):
        order = buy(stripe, account, plans["growth"])
    assert order.kind == "renewal"
    assert get_subscription(account).provider_subscription != old
    assert stripe.cancelled == [old]
    assert balance_and_debt(account) == (55_100, 0)


@pytest.mark.parametrize("is_immediate", [True, False])
def test_closing_an_account_cancels_its_subscription_immediately_or_by_the_daily_job(
    stripe: FakeStripe,
    account: Account,
    owner: User,
    plans: PlansByCode,
    django_capture_on_commit_callbacks: Any,
    is_immediate: bool,
) -> None:
    stripe_id = subscribe(stripe, account, plans["starter"])
    with django_capture_on_commit_callbacks(execute=is_immediate):
        close_account(account=account, actor=owner)
    if not is_immediate:
        sync_all_with_provider()
    assert stripe.cancelled == [stripe_id]
    sync_all_with_provider()
    assert stripe.cancelled == [stripe_id]
    # A renewal charged at that moment is fulfilled.
    assert send_event(stripe.renew(stripe_id, 1_500)) == 200
    assert balance_and_debt(account) == (10_100, 0)


def test_refunded_plan_is_not_charged_again(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    order = buy(stripe, account, plans["starter"])
    stripe_id = get_subscription(account).provider_subscription
    send_event(stripe.refund(stripe.find_session(order.public_id), 1_500))
    assert get_subscription(account).plan.code == "free"
    assert balance_and_debt(account) == (100, 0)
    sync_all_with_provider()
    assert stripe.cancelled == [stripe_id]


def test_new_price_is_sent_to_stripe_by_the_daily_job_and_the_former_one_accepted(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    stripe_id = subscribe(stripe, account, plans["starter"])
    Plan.objects.filter(code="starter").update(price_cents=2_000)
    sync_all_with_provider()
    sync_all_with_provider()
    request = stripe.subscriptions[stripe_id]["asked"]
    assert request["items"][0]["price_data"]["unit_amount"] == "2000"
    assert get_subscription(account).provider_cents == 2_000
    # A renewal that was charged at the former price is fulfilled.
    assert send_event(stripe.renew(stripe_id, 1_500)) == 200
    assert balance_and_debt(account) == (10_100, 0)
