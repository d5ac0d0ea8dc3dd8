"""Orders lead to the payment page in one step, which saves the card of a member who agrees."""

from http import HTTPStatus

import pytest
from django.test import Client, TestCase
from pytest_django import Settings

from accounts.models import Account, User
from credits.forms import OrderForm
from credits.models import CARD_CONSENT, Order, Pack, SavedCard
from credits.orders.quotes import last_buyer, quote
from tests.conftest import signed_in
from tests.credits.customers import balance_and_debt, order_form
from tests.credits.payments.stripe_helpers import (
    PlansByCode,
    get_subscription,
    place_order,
    send_event,
)
from tests.servers.stripe import FakeStripe, StripeObject

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FORM_ACTION = "form-action 'self'"


def form_actions(page: str, owner: User) -> str:
    policy = signed_in(owner).get(page).headers["Content-Security-Policy"]
    return next(part for part in policy.split("; ") if part.startswith("form-action"))


def test_only_pages_whose_form_leads_to_the_provider_may_send_it_there(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    for page in (
        f"/credits/packs/{pack.public_id}/",
        "/credits/plans/starter/",
        f"/credits/orders/{order.public_id}/",
        "/credits/card/",
    ):
        assert form_actions(page, owner) == f"{FORM_ACTION} {stripe.url}", page
    for page in ("/credits/", "/credits/packs/", "/credits/plans/", "/validation/"):
        assert form_actions(page, owner) == FORM_ACTION, page


def test_without_a_provider_no_page_may_send_forms_elsewhere(owner: User, pack: Pack) -> None:
    assert form_actions(f"/credits/packs/{pack.public_id}/", owner) == FORM_ACTION


def test_unpaid_order_leads_to_its_payment_page_and_a_paid_one_to_its_own(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order, browser = place_order(account, pack), signed_in(owner)
    path = f"/credits/orders/{order.public_id}/"
    assert browser.post(f"{path}pay/").headers["Location"] == order.provider_url
    account.orders.update(state="paid", paid_at=order.placed_at)
    page = browser.post(f"{path}pay/", follow=True)
    assert page.redirect_chain == [(path, 302)]
    assert "is already paid." in page.content.decode()


def test_order_whose_event_has_not_arrived_does_not_lead_to_the_finished_page(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    pay(stripe, order)
    path, client = f"/credits/orders/{order.public_id}/", signed_in(owner)
    page = client.post(f"{path}pay/", follow=True)
    assert page.redirect_chain == [(f"{path}?payment=finished", 302)]
    assert "Stripe is confirming your payment." in page.content.decode()


def test_page_after_the_payment_polls_until_its_event_arrives(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    event = pay(stripe, order)
    client, page = signed_in(owner), stripe.find_session(order.public_id)["success_url"]
    shown = client.get(page).content.decode()
    poll = f"/credits/orders/{order.public_id}/?poll"
    assert f'data-poll="{poll}"' in shown
    assert "by card" not in shown
    assert client.get(poll).status_code == HTTPStatus.NO_CONTENT
    assert send_event(event) == 200
    assert "data-reload" in client.get(poll).content.decode()
    shown = client.get(page).content.decode()
    assert "data-poll" not in shown
    assert "1,000 credits were added to your balance." in shown


def test_provider_that_is_down_leaves_the_order_to_be_paid_later(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    stripe.is_down = True
    page = signed_in(owner).post(f"/credits/orders/{order.public_id}/pay/", follow=True)
    assert page.status_code == HTTPStatus.OK
    assert 'role="alert"' in page.content.decode()
    assert "Pay $5.00 by card" in " ".join(page.content.decode().split())


def test_needed_credits_lead_to_the_smallest_pack_that_covers_them(browser: Client) -> None:
    for needed, credits in (("1", 1_000), ("1001", 10_000), ("9" * 30, 1_000_000)):
        response = browser.get(f"/credits/packs/?credits={needed}&next=/lists/")
        path = f"/credits/packs/{Pack.objects.get(credits=credits).public_id}/"
        assert response.headers["Location"] == f"{path}?next=%2Flists%2F", needed
    assert browser.get("/credits/packs/?credits=x&next=/lists/").status_code == 200


def order_pack(owner: User, account: Account, pack: Pack, **fields: str) -> Order:
    form = order_form(account, pack) | fields
    response = signed_in(owner).post(f"/credits/packs/{pack.public_id}/", form)
    assert response.status_code == 302
    return account.orders.latest("pk")


def pay(stripe: FakeStripe, order: Order) -> StripeObject:
    return stripe.pay(stripe.find_session(order.public_id))


def test_card_is_saved_only_with_consent(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    page = signed_in(owner).get(f"/credits/packs/{pack.public_id}/").content.decode()
    assert '<input type="checkbox" name="save_card"' in page
    assert "checked" not in page.partition('name="save_card"')[2].partition(">")[0]
    assert CARD_CONSENT in page
    order = order_pack(owner, account, pack)
    session = stripe.find_session(order.public_id)
    assert "setup_future_usage" not in session["payment_intent_data"]
    assert send_event(pay(stripe, order)) == 200
    assert balance_and_debt(account) == (1_100, 0)
    assert not SavedCard.objects.exists()
    assert not account.audit_entries.filter(action__startswith="card.").exists()


def test_card_that_pays_for_a_pack_is_saved(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    for _ in range(2):
        # The form is sent twice.
        order = order_pack(owner, account, pack, save_card="on")
    assert account.orders.get() == order
    entry = account.audit_entries.get(action="card.agreed")
    assert (entry.actor, entry.target) == (owner, CARD_CONSENT)
    page = signed_in(owner).get(f"/credits/orders/{order.public_id}/").content.decode()
    assert "We'll save your card when you pay." in page
    session = stripe.find_session(order.public_id)
    customer = get_subscription(account).provider_customer
    assert customer
    assert session["customer"] == customer
    assert session["payment_method_types"] == ["card"]
    assert session["payment_intent_data"]["setup_future_usage"] == "off_session"
    assert session["payment_intent_data"]["metadata"] == {"order": order.public_id}

    event = pay(stripe, order)
    assert [send_event(event), send_event({**event, "id": "evt_replayed_once"})] == [200, 200]
    card = SavedCard.objects.get(account=account)
    assert (str(card), card.provider_customer) == ("Visa ending in 4242", customer)
    assert account.audit_entries.filter(action="card.saved").count() == 1
    assert balance_and_debt(account) == (1_100, 0)
    page = signed_in(owner).get("/credits/").content.decode()
    assert "Visa ending in 4242" in page


def test_new_payment_page_of_the_order_saves_the_card_too(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = order_pack(owner, account, pack, save_card="on")
    first = stripe.find_session(order.public_id)
    stripe.sessions[first["id"]]["status"] = "expired"
    signed_in(owner).post(f"/credits/orders/{order.public_id}/pay/")
    second = stripe.find_session(order.public_id)
    assert second["id"] != first["id"]
    assert second["customer"] == first["customer"]
    assert second["payment_intent_data"] == first["payment_intent_data"]


def test_card_that_pays_for_the_next_pack_replaces_the_saved_one(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    send_event(pay(stripe, order_pack(owner, account, pack, save_card="on")))
    former = SavedCard.objects.get(account=account)
    page = signed_in(owner).get(f"/credits/packs/{pack.public_id}/").content.decode()
    assert "Save this card instead of your Visa ending in 4242" in page
    second = order_pack(owner, account, pack, save_card="on", form_token="b" * 32)
    with TestCase.captureOnCommitCallbacks(execute=True):
        send_event(pay(stripe, second))
    assert SavedCard.objects.get(account=account).provider_card != former.provider_card
    assert stripe.detached == [former.provider_card]


def test_pack_is_granted_even_if_stripe_does_not_describe_the_card(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    event = pay(stripe, order_pack(owner, account, pack, save_card="on"))
    stripe.is_down = True
    assert send_event(event) == 200
    assert balance_and_debt(account) == (1_100, 0)
    assert not SavedCard.objects.exists()


def test_pack_paid_by_invoice_and_plan_do_not_ask_for_a_card(
    account: Account, owner: User, pack: Pack, plans: PlansByCode, settings: Settings
) -> None:
    page = signed_in(owner).get(f"/credits/packs/{pack.public_id}/").content.decode()
    assert "save_card" not in page
    order = order_pack(owner, account, pack, save_card="on")
    assert not order.saves_card
    assert not account.audit_entries.filter(action="card.agreed").exists()
    # A plan always saves its card.
    settings.STRIPE_SECRET_KEY = "sk_test"
    form = OrderForm(quote(account, plans["starter"]), last_buyer(account), None)
    assert "save_card" not in form.fields
