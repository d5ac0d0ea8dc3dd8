"""Cards are saved on a page of Stripe, with consent, and removed here and there."""

from datetime import timedelta

import pytest
from django.test import Client, TestCase
from django.utils import timezone

from accounts.models import Account, User
from accounts.retention import erase_account
from accounts.roles import Role
from accounts.services import close_account
from credits.models import CARD_CONSENT, CardToDetach, SavedCard
from credits.payments import open_card_page, sync_all_with_provider
from credits.payments.cards import remove_card
from tests.conftest import make_member, signed_in
from tests.credits.payments.stripe_helpers import (
    PlansByCode,
    get_subscription,
    place_order,
    send_event,
    subscribe,
)
from tests.servers.stripe import FakeStripe, StripeObject

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/credits/card/"


def enter_card(stripe: FakeStripe, account: Account) -> StripeObject:
    """Enter a card on the page that saves one, and return the event that reports it."""
    open_card_page(account)
    return stripe.pay(stripe.find_session(account.public_id))


def save_card(stripe: FakeStripe, account: Account) -> SavedCard:
    assert send_event(enter_card(stripe, account)) == 200
    return SavedCard.objects.get(account=account)


def test_consent_is_shown_and_recorded_once_the_page_opens(
    stripe: FakeStripe, account: Account, browser: Client, owner: User
) -> None:
    assert CARD_CONSENT in browser.get(PAGE).content.decode()
    stripe.is_down = True
    assert "isn&#x27;t responding" in browser.post(PAGE).content.decode()
    assert not account.audit_entries.filter(action="card.agreed").exists()
    stripe.is_down = False
    response = browser.post(PAGE)
    session = stripe.find_session(account.public_id)
    assert (session["mode"], session["payment_method_types"]) == ("setup", ["card"])
    assert session["url"] == response.headers["Location"]
    entry = account.audit_entries.latest("pk")
    assert (entry.action, entry.actor, entry.target) == ("card.agreed", owner, CARD_CONSENT)


def test_event_saves_the_card_once_stripe_describes_it(
    stripe: FakeStripe, account: Account
) -> None:
    event = enter_card(stripe, account)
    stripe.is_down = True
    assert send_event(event) == 503
    stripe.is_down = False
    assert [send_event(event), send_event({**event, "id": "evt_replayed"})] == [200, 200]
    card = SavedCard.objects.get(account=account)
    assert (str(card), card.expires) == ("Visa ending in 4242", "08/2030")
    assert card.provider_customer == get_subscription(account).provider_customer
    assert account.audit_entries.filter(action="card.saved").count() == 1


@pytest.mark.both
def test_second_card_replaces_the_first_at_stripe_too(stripe: FakeStripe, account: Account) -> None:
    first = save_card(stripe, account)
    with TestCase.captureOnCommitCallbacks(execute=True):
        second = save_card(stripe, account)
    assert second.provider_card != first.provider_card
    assert second.provider_customer == first.provider_customer
    assert stripe.detached == [first.provider_card]
    assert not CardToDetach.objects.exists()


def test_removed_card_is_detached_at_stripe(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    card = save_card(stripe, account)
    browser = signed_in(owner)
    assert "Remove card?" in browser.get("/credits/card/remove/").content.decode()
    with TestCase.captureOnCommitCallbacks(execute=True):
        browser.post("/credits/card/remove/")
    assert not SavedCard.objects.exists()
    assert stripe.detached == [card.provider_card]
    entry = account.audit_entries.latest("pk")
    assert (entry.action, entry.target) == ("card.removed", "Visa ending in 4242")


def test_daily_job_detaches_a_card_that_was_removed_while_stripe_was_down(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    card = save_card(stripe, account)
    stripe.is_down = True
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert remove_card(account=account, actor=owner)
    assert stripe.detached == []
    stripe.is_down = False
    sync_all_with_provider()
    sync_all_with_provider()
    assert stripe.detached == [card.provider_card]


@pytest.mark.both
def test_plan_renews_with_the_card_that_replaces_its_own(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    subscription = subscribe(stripe, account, plans["starter"])
    first = SavedCard.objects.get(account=account)
    assert first.provider_card == stripe.subscriptions[subscription]["default_payment_method"]["id"]
    second = save_card(stripe, account)
    assert stripe.subscriptions[subscription]["asked"] == {
        "default_payment_method": second.provider_card
    }
    second.refresh_from_db()
    assert second.pays_renewals


def test_card_renewed_or_detached_at_stripe_is_changed_or_removed(
    stripe: FakeStripe, account: Account
) -> None:
    card = save_card(stripe, account)
    details = {"exp_month": 1, "exp_year": 2034, "last4": "1881"}
    method = {"id": card.provider_card, "card": details}
    assert send_event(stripe.event("payment_method.automatically_updated", method)) == 200
    card.refresh_from_db()
    assert (card.last_four, card.expires) == ("1881", "01/2034")
    assert send_event(stripe.event("payment_method.detached", {"id": card.provider_card})) == 200
    assert not SavedCard.objects.exists()


def test_card_entered_after_the_account_was_closed_is_detached(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    event = enter_card(stripe, account)
    close_account(account=account, actor=owner)
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert send_event(event) == 200
    assert not SavedCard.objects.exists()
    assert len(stripe.detached) == 1


@pytest.mark.both
def test_card_is_detached_when_a_closed_account_is_erased(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    card = save_card(stripe, account)
    close_account(account=account, actor=owner)
    assert SavedCard.objects.exists()
    long_ago = timezone.now() - timedelta(days=400)
    Account.objects.filter(pk=account.pk).update(closed_at=long_ago)
    with TestCase.captureOnCommitCallbacks(execute=True):
        erase_account(account=account)
    assert not SavedCard.objects.exists()
    assert stripe.detached == [card.provider_card]


def test_members_who_may_not_buy_do_not_see_the_card(stripe: FakeStripe, account: Account) -> None:
    save_card(stripe, account)
    browser = signed_in(make_member(account, Role.DEVELOPER))
    assert "4242" not in browser.get("/credits/").content.decode()
    assert browser.get(PAGE).status_code == 403


def test_pages_do_not_exist_without_stripe(browser: Client) -> None:
    for path in ("card/", "card/remove/", "automatic-top-up/"):
        assert browser.get(f"/credits/{path}").status_code == 404
    assert "Card payments" not in browser.get("/credits/").content.decode()


def test_plan_that_was_paid_twice_renews_with_the_last_card(
    stripe: FakeStripe, account: Account, plans: PlansByCode
) -> None:
    """The second subscription is canceled, so the first one has to use its card."""
    session = stripe.find_session(place_order(account, plans["starter"]).public_id)
    send_event(stripe.pay(session))
    first = get_subscription(account).provider_subscription
    send_event(stripe.pay({**session}))
    card = SavedCard.objects.get(account=account)
    assert get_subscription(account).provider_subscription == first
    assert stripe.subscriptions[first]["asked"] == {"default_payment_method": card.provider_card}
