"""Plans that are paid by card each month: renewals, upgrades, ends, and what goes wrong there."""

from typing import Any

import pytest

from accounts.models import Account, User
from accounts.services import close_account
from credits.models import Plan
from credits.payments import method_of, sync_with_provider
from credits.plans import subscriptions as module
from credits.wallet.books import differences
from runtime.jobs.daily import run_daily
from runtime.models import Mail
from tests.credits.days import day_of_work, on
from tests.credits.payments.cards import (
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
from tests.servers.stripe import FakeStripe

pytestmark = pytest.mark.django_db

__all__ = ["running", "stripe"]


def test_a_renewal_at_the_price_before_the_last_change_is_honoured(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    known = subscribe(stripe, account, plans["starter"])
    Plan.objects.filter(code="starter").update(price_cents=2_000)
    run_daily()
    assert tell(stripe.renew(known, 1_500)) == 200
    assert wallet_of(account) == (10_100, 0)


def test_a_plan_is_a_subscription_that_renews_itself(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    with on("2026-11-25"):
        order = place(account, plans["starter"])
        session = stripe.session_of(order.public_id)
        assert session["mode"] == "subscription"
        price = session["line_items"][0]["price_data"]
        assert price["recurring"] == {"interval": "month"}
        assert tell(stripe.pay(session)) == 200
    subscription = subscription_of(account)
    assert (subscription.plan.code, wallet_of(account)) == ("starter", (5_100, 0))
    day_of_work("2026-12-20")
    assert not account.orders.pending().exists()
    with on("2026-12-25"):
        renewal = stripe.renew(subscription.provider_subscription, 1_500)
        assert [tell(renewal), tell({**renewal, "id": "evt_again"})] == [200, 200]
    assert wallet_of(account) == (10_100, 0)
    assert str(subscription_of(account).covered_until) == "2027-01-25"
    renewed = account.orders.get(kind="renewal")
    assert (renewed.state, renewed.total_cents) == ("paid", 1_500)
    assert str(renewed.period_start) == "2026-12-25"
    assert not list(differences())


def test_the_first_invoice_of_a_subscription_is_not_a_renewal(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    known = subscribe(stripe, account, plans["starter"])
    tell(stripe.renew(known, 1_500, billing_reason="subscription_create"))
    assert wallet_of(account) == (5_100, 0)


def test_a_renewal_that_fails_is_told_and_ends_the_plan_after_7_days(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    with on("2026-11-25"):
        known = subscribe(stripe, account, plans["starter"])
    with on("2026-12-25"):
        failed = stripe.fail_to_renew(known)
        assert [tell(failed), tell(failed)] == [200, 200]
    mail = Mail.objects.get(subject="The payment for your plan Starter failed")
    assert "1 Jan 2027" in mail.text
    day_of_work("2026-12-31")
    assert subscription_of(account).plan.code == "starter"
    day_of_work("2027-01-01")
    assert subscription_of(account).plan.code == "free"
    assert stripe.cancelled == [known]


def test_a_renewal_paid_after_the_plan_ended_brings_it_back(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    with on("2026-11-25"):
        known = subscribe(stripe, account, plans["starter"])
    stripe.is_down = True
    day_of_work("2027-01-01")
    stripe.is_down = False
    with on("2027-01-02"):
        tell(stripe.renew(known, 1_500))
    assert (subscription_of(account).plan.code, wallet_of(account)) == ("starter", (10_100, 0))


def test_an_upgrade_is_paid_once_and_the_subscription_follows(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    known = subscribe(stripe, account, plans["starter"])
    upgrade = place(account, plans["growth"])
    session = stripe.session_of(upgrade.public_id)
    assert (session["mode"], session["amount_total"]) == ("payment", 8_400)
    assert tell(stripe.pay(session)) == 200
    assert (subscription_of(account).plan.code, wallet_of(account)) == ("growth", (50_100, 0))
    asked = stripe.subscriptions[known]["asked"]
    assert asked["proration_behavior"] == "none"
    assert asked["items"][0]["price_data"]["unit_amount"] == "9900"
    assert subscription_of(account).provider_plan == "growth"


def test_an_upgrade_that_stripe_could_not_be_told_is_told_again(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    buy(stripe, account, plans["starter"])
    paid = stripe.pay(stripe.session_of(place(account, plans["growth"]).public_id))
    stripe.is_down = True
    assert tell(paid) == 503
    assert wallet_of(account) == (50_100, 0)
    stripe.is_down = False
    assert tell(paid) == 200
    assert wallet_of(account) == (50_100, 0)
    assert subscription_of(account).provider_plan == "growth"


def test_a_lower_plan_is_charged_from_the_next_month_on(
    stripe: FakeStripe, account: Account, owner: User, plans: Plans
) -> None:
    with on("2026-11-25"):
        known = subscribe(stripe, account, plans["growth"])
        module.choose_plan(account=account, plan=plans["starter"], actor=owner)
        sync_with_provider(account)
    asked = stripe.subscriptions[known]["asked"]
    assert asked["items"][0]["price_data"]["unit_amount"] == "1500"
    with on("2026-12-25"):
        tell(stripe.renew(known, 1_500))
    assert (subscription_of(account).plan.code, wallet_of(account)) == ("starter", (55_100, 0))


def test_who_chose_free_is_not_charged_again(
    stripe: FakeStripe, account: Account, owner: User, plans: Plans
) -> None:
    with on("2026-11-25"):
        known = subscribe(stripe, account, plans["starter"])
        module.choose_plan(account=account, plan=plans["free"], actor=owner)
        sync_with_provider(account)
    assert stripe.subscriptions[known]["asked"] == {"cancel_at_period_end": "true"}
    day_of_work("2026-12-25")
    assert subscription_of(account).plan.code == "free"


def test_a_subscription_that_is_cancelled_at_stripes_lasts_as_long_as_it_is_paid(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    with on("2026-11-25"):
        known = subscribe(stripe, account, plans["starter"])
        tell(stripe.event("customer.subscription.deleted", {"id": known}))
    day_of_work("2026-12-24")
    assert subscription_of(account).plan.code == "starter"
    day_of_work("2026-12-25")
    assert subscription_of(account).plan.code == "free"


def test_a_closed_account_is_not_charged_again(
    stripe: FakeStripe, account: Account, owner: User, plans: Plans
) -> None:
    known = subscribe(stripe, account, plans["starter"])
    close_account(account=account, actor=owner)
    run_daily()
    run_daily()
    assert stripe.cancelled == [known]


def test_the_refund_of_a_renewal_is_found_by_its_invoice(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    """A charge of a subscription names our order nowhere, and newer versions not its invoice."""
    with on("2026-11-25"):
        order = buy(stripe, account, plans["starter"])
    known, customer = subscription_of(account).provider_subscription, "cus_1"
    with on("2026-12-25"):
        renewal = stripe.renew(known, 1_500)
        payment = stripe.invoice_payments[renewal["data"]["object"]["id"]]
        refund = stripe.refund_of(payment, 1_500, customer=customer)
        assert tell(refund) == 503
        assert tell(renewal) == 200
        assert tell(refund) == 200
    assert wallet_of(account) == (5_100, 0)
    first = stripe.refund(stripe.session_of(order.public_id), 1_500)
    with on("2026-12-26"):
        assert tell(first) == 200
    assert wallet_of(account) == (100, 0)
    assert not list(differences())


def test_a_plan_paid_on_two_pages_is_one_subscription_and_staff_are_told(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    """The first page could not be closed in time."""
    order = place(account, plans["starter"])
    first = stripe.session_of(order.public_id)
    method_of(order).begin(order)
    second = stripe.session_of(order.public_id)
    assert tell(stripe.pay(first)) == 200
    kept = subscription_of(account).provider_subscription
    paid_again = stripe.pay(second)
    assert tell(paid_again) == 200
    assert subscription_of(account).provider_subscription == kept
    assert stripe.cancelled == [paid_again["data"]["object"]["subscription"]]
    assert wallet_of(account) == (5_100, 0)
    assert account.audit_entries.filter(action="order.paid_twice").count() == 1


def test_an_old_event_sent_again_does_not_end_what_was_taken_since(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    with on("2026-11-25"):
        first = stripe.pay(stripe.session_of(place(account, plans["starter"]).public_id))
        tell(first)
        old = subscription_of(account).provider_subscription
    day_of_work("2027-01-01")
    assert stripe.cancelled == [old]
    with on("2027-01-02"):
        new = subscribe(stripe, account, plans["growth"])
        assert [tell(first), tell({**first, "id": "evt_resent"})] == [200, 200]
    assert subscription_of(account).provider_subscription == new
    assert stripe.cancelled == [old]


def test_who_takes_a_plan_anew_in_the_days_of_grace_does_not_pay_for_the_old_one(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    with on("2026-11-25"):
        old = subscribe(stripe, account, plans["starter"])
    with on("2026-12-27"):
        taken = buy(stripe, account, plans["growth"])
    assert taken.kind == "renewal"
    assert subscription_of(account).provider_subscription != old
    assert stripe.cancelled == [old]
    assert wallet_of(account) == (55_100, 0)


def test_a_closed_account_is_left_at_once(
    stripe: FakeStripe,
    account: Account,
    owner: User,
    plans: Plans,
    django_capture_on_commit_callbacks: Any,
) -> None:
    known = subscribe(stripe, account, plans["starter"])
    with django_capture_on_commit_callbacks(execute=True):
        close_account(account=account, actor=owner)
    assert stripe.cancelled == [known]
    # What was charged in that very moment is honoured all the same.
    assert tell(stripe.renew(known, 1_500)) == 200
    assert wallet_of(account) == (10_100, 0)


def test_a_refunded_plan_is_not_charged_again(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    order = buy(stripe, account, plans["starter"])
    known = subscription_of(account).provider_subscription
    tell(stripe.refund(stripe.session_of(order.public_id), 1_500))
    assert subscription_of(account).plan.code == "free"
    assert wallet_of(account) == (100, 0)
    run_daily()
    assert stripe.cancelled == [known]


def test_a_new_price_reaches_stripe_with_the_next_days_work(
    stripe: FakeStripe, account: Account, plans: Plans
) -> None:
    known = subscribe(stripe, account, plans["starter"])
    Plan.objects.filter(code="starter").update(price_cents=2_000)
    run_daily()
    run_daily()
    asked = stripe.subscriptions[known]["asked"]
    assert asked["items"][0]["price_data"]["unit_amount"] == "2000"
    assert subscription_of(account).provider_cents == 2_000
