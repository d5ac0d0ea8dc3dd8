"""Automatic top-up is switched on, changed, and switched off under Billing."""

from decimal import Decimal

import pytest
from pytest_django import Settings

from accounts.models import Account, User
from accounts.roles import Role
from credits.export import export_billing
from credits.models import AutomaticTopUp, Pack
from tests.conftest import make_member, signed_in
from tests.credits.automatic_top_ups.helpers import (
    get_top_up,
    give_card,
    run_worker,
    run_worker_later,
    switch_on_top_up,
)
from tests.servers.stripe import FakeStripe

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE, OFF = "/credits/automatic-top-up/", "/credits/automatic-top-up/off/"


@pytest.fixture
def shop(stripe: FakeStripe, account: Account) -> Account:
    """Return an account with a card, and without automatic top-up."""
    give_card(stripe, account)
    return account


def form(item: Pack, **changes: object) -> dict[str, object]:
    return {"threshold": "500", "pack": item.pk, "cap": "15.00", **changes}


def test_member_who_may_buy_switches_it_on_and_off(shop: Account, pack: Pack) -> None:
    browser = signed_in(make_member(shop, Role.BILLING))
    page = browser.post(PAGE, form(pack), follow=True).content.decode()
    assert "Automatic top-up is on." in page
    assert "Buys 1,000 credits for $5.00 when the balance falls below 500" in page
    top_up = get_top_up(shop)
    assert (top_up.is_on, top_up.threshold) == (True, 500)
    assert (top_up.cap_cents, top_up.currency) == (1_500, "USD")
    browser.post(OFF)
    assert not get_top_up(shop).is_on
    entries = shop.audit_entries.order_by("-pk")[:2]
    assert [entry.action for entry in entries] == ["top_up.switched_off", "top_up.switched_on"]
    assert entries[1].target == (
        "1,000 credits when the balance falls below 500, at most $15.00 per month"
    )


def test_invalid_settings_are_refused(shop: Account, owner: User, pack: Pack) -> None:
    browser, amount = signed_in(owner), "Enter an amount from 0.01 to 1,000,000."
    for changes, error in (
        ({"threshold": "9"}, "Enter a whole number from 10 to "),
        ({"threshold": ""}, "This field is required"),
        ({"cap": ""}, "This field is required"),
        ({"cap": "4.99"}, "The pack costs $5.00. Enter at least that much."),
        *(({"cap": cap}, amount) for cap in ("-5", "9" * 20, "NaN")),
        ({"cap": "15.001"}, "no more than 2 decimal places"),
        ({"pack": "0"}, "Select a valid choice"),
    ):
        assert error in browser.post(PAGE, form(pack, **changes)).content.decode(), changes
    assert not AutomaticTopUp.objects.exists()


def test_prices_and_cap_include_tax(
    shop: Account, owner: User, pack: Pack, settings: Settings
) -> None:
    settings.TAX_RATE = Decimal("0.2")
    browser = signed_in(owner)
    assert "1,000 credits for $6.00" in browser.get(PAGE).content.decode()
    assert "The pack costs $6.00." in browser.post(PAGE, form(pack, cap="5.99")).content.decode()


def test_withdrawn_pack_is_not_offered(shop: Account, owner: User, pack: Pack) -> None:
    Pack.objects.filter(pk=pack.pk).update(is_offered=False)
    browser = signed_in(owner)
    assert "1,000 credits for" not in browser.get(PAGE).content.decode()
    assert "Select a valid choice" in browser.post(PAGE, form(pack)).content.decode()


def test_page_without_a_card_asks_for_one(
    stripe: FakeStripe, account: Account, owner: User
) -> None:
    response = signed_in(owner).get(PAGE, follow=True)
    assert response.redirect_chain == [("/credits/card/", 302)]
    assert "Save a card first." in response.content.decode()


def test_staff_see_settings_and_attempts(stripe: FakeStripe, shop: Account, staff: User) -> None:
    switch_on_top_up(shop)
    stripe.decline = "expired_card"
    run_worker()
    page = signed_in(staff).get(f"/admin/customers/{shop.public_id}/?tab=billing")
    text = page.content.decode()
    for part in ("Automatic top-up", "Visa ending in 4242", "$15.00", "Failed: expired_card"):
        assert part in text


def test_export_contains_card_and_settings(shop: Account) -> None:
    switch_on_top_up(shop)
    billing = export_billing(account=shop)
    assert billing["saved_card"] == {"brand": "Visa", "last_four": "4242", "expires": "08/2030"}
    settings = {"is_on": True, "threshold": 500, "pack_credits": 1_000}
    assert billing["automatic_top_up"] == {**settings, "cap_cents": 1_500, "currency": "USD"}


def test_order_that_is_being_paid_is_not_listed_as_unpaid(
    stripe: FakeStripe, shop: Account, owner: User
) -> None:
    switch_on_top_up(shop)
    stripe.is_down = True
    run_worker()
    assert "Unpaid orders" not in signed_in(owner).get("/credits/").content.decode()
    stripe.is_down, stripe.decline = False, "card_declined"
    run_worker_later()
    assert "Unpaid orders" in signed_in(owner).get("/credits/").content.decode()
