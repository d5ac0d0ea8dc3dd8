"""Which tax an order has: quotes, the form, renewals, and card payments."""

import re
from decimal import Decimal

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from credits.models import Order, Pack, Plan
from credits.orders.fulfillment import fulfill_order
from credits.orders.placement import place_order, place_renewal
from credits.orders.quotes import (
    Buyer,
    QuoteChanged,
    last_buyer,
    price_with_tax,
    quote,
    quote_renewal,
)
from credits.orders.tax import InvalidVatId, Tax, parse_vat_id, tax_for
from credits.plans import subscriptions
from credits.plans.periods import Period, month_starting
from tests.credits.customers import get_buyer, order_form, subscribe
from tests.credits.test_pages import text

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

GERMAN = Buyer("Laden GmbH", "Beispielweg 1", "DE136695976", "DE")
FRENCH = Buyer("Boutique SARL", "1 rue du Port", "FR40303265045", "FR")
AMERICAN = Buyer("Shop Inc", country="US")


@pytest.fixture(autouse=True)
def german_seller(settings: Settings) -> None:
    settings.TAX_RATE, settings.SELLER_COUNTRY = Decimal("0.19"), "DE"


def terms_of(order: Order) -> tuple[int, int, str]:
    return order.net_cents, order.tax_cents, order.tax_reason


def place(account: Account, item: Pack | Plan, buyer: Buyer) -> Order:
    actor = get_buyer(account)
    return place_order(quote=quote(account, item, buyer), buyer=buyer, actor=actor)


@pytest.mark.parametrize(
    ("buyer", "terms"),
    [
        (GERMAN, (500, 95, "")),
        (FRENCH, (500, 0, "Reverse charge")),
        (Buyer("Boutique", country="FR"), (500, 95, "")),
        (AMERICAN, (500, 0, "Outside the scope of tax in Germany")),
    ],
)
def test_order_has_and_keeps_the_tax_of_its_buyer(
    account: Account, pack: Pack, settings: Settings, buyer: Buyer, terms: tuple[int, int, str]
) -> None:
    order = place(account, pack, buyer)
    settings.SELLER_COUNTRY = "FR"
    order.refresh_from_db()
    assert terms_of(order) == terms
    assert order.buyer_country == buyer.country


def test_quote_without_a_form_is_for_the_buyer_of_the_last_order(
    account: Account, pack: Pack
) -> None:
    assert quote(account, pack).amount.total_cents == 595
    place(account, pack, FRENCH)
    again = quote(account, pack)
    assert (again.amount.total_cents, again.tax.reason) == (500, "Reverse charge")
    assert last_buyer(account) == FRENCH


def test_order_for_another_country_than_the_quote_is_refused(
    account: Account, owner: User, pack: Pack
) -> None:
    shown = quote(account, pack, FRENCH)
    with pytest.raises(QuoteChanged):
        place_order(quote=shown, buyer=GERMAN, actor=owner)
    assert not account.orders.exists()


@pytest.fixture
def month(account: Account) -> Period:
    subscribe(account, "starter", day="2026-11-01")
    subscription = subscriptions.lock_subscription(account)
    assert subscription.covered_until
    return month_starting(subscription.covered_until, subscription.started_on)


@pytest.mark.both
def test_renewal_has_the_tax_of_the_last_buyer_unless_it_was_charged_at_the_old_price(
    account: Account, pack: Pack, plans: dict[str, Plan], month: Period
) -> None:
    starter = plans["starter"]
    # No country was entered yet.
    assert quote_renewal(account, starter, month).amount.tax_cents == 285
    place(account, pack, FRENCH)
    old = quote_renewal(account, starter, month, paid_cents=1_785)
    assert (old.amount.net_cents, old.amount.tax_cents, old.tax.reason) == (1_500, 285, "")
    subscription = subscriptions.lock_subscription(account)
    order = place_renewal(subscription=subscription, plan=starter, month=month)
    assert terms_of(order) == (1_500, 0, "Reverse charge")
    assert price_with_tax(account, starter) == 1_500


def test_upgrade_has_the_tax_of_its_buyer(account: Account, plans: dict[str, Plan]) -> None:
    fulfill_order(order=place(account, plans["starter"], AMERICAN))
    upgrade = quote(account, plans["growth"])
    assert (upgrade.kind, upgrade.amount.total_cents) == ("upgrade", 8_400)
    assert upgrade.tax.reason == "Outside the scope of tax in Germany"


def shown_terms(page: str) -> str:
    found = re.search(r'name="terms" value="([^"]+)"', page)
    assert found
    return found[1]


def test_country_that_changes_the_tax_shows_the_new_total_instead_of_ordering(
    browser: Client, account: Account, pack: Pack
) -> None:
    path = f"/credits/packs/{pack.public_id}/"
    form = {**order_form(account, pack), "country": "FR", "tax_id": "40303265045", "address": "Rue"}
    page = text(browser.post(path, form))
    assert "Your country or VAT ID changes the tax. Review the new total" in page
    assert "Tax, 0% · Reverse charge" in page
    assert 'value="FR" selected' in page
    assert "Rue</textarea>" in page
    assert not account.orders.exists()
    browser.post(path, {**form, "terms": shown_terms(page)})
    order = account.orders.get()
    assert terms_of(order) == (500, 0, "Reverse charge")
    assert order.buyer_tax_id == "FR40303265045"
    assert 'value="FR" selected' in text(browser.get(path))


def test_wrong_vat_id_or_country_is_an_error_that_keeps_the_input(
    browser: Client, account: Account, pack: Pack
) -> None:
    path = f"/credits/packs/{pack.public_id}/"
    form = {**order_form(account, pack), "country": "FR", "tax_id": "DE136695976", "address": "Rue"}
    page = text(browser.post(path, form))
    assert "This isn&#x27;t a valid VAT ID of France. Correct it, or leave it empty." in page
    assert 'value="DE136695976"' in page
    assert "Rue</textarea>" in page
    for country in ("", "XX", "de", "XI"):
        assert "errorlist" in text(browser.post(path, {**form, "country": country, "tax_id": ""}))
    assert not account.orders.exists()


def test_tax_number_outside_the_european_union_is_not_checked(
    browser: Client, account: Account, pack: Pack
) -> None:
    place(account, pack, AMERICAN)
    form = {**order_form(account, pack), "country": "US", "tax_id": "12-3456789"}
    browser.post(f"/credits/packs/{pack.public_id}/", form)
    assert last_buyer(account).tax_id == "12-3456789"


RATE = Decimal("0.19")
USUAL, REVERSE_CHARGE = Tax(RATE), Tax(Decimal(0), "Reverse charge")
OUTSIDE_GERMANY = Tax(Decimal(0), "Outside the scope of tax in Germany")
OUTSIDE_US = Tax(Decimal(0), "Outside the scope of tax in United States")


@pytest.mark.parametrize(
    ("seller", "buyer", "vat_id", "tax"),
    [
        ("DE", "DE", "", USUAL),
        ("DE", "DE", "DE136695976", USUAL),
        ("DE", "FR", "", USUAL),
        ("DE", "FR", "FR40303265045", REVERSE_CHARGE),
        ("DE", "GR", "EL094259216", REVERSE_CHARGE),
        ("DE", "US", "", OUTSIDE_GERMANY),
        ("DE", "GB", "XI123456789", OUTSIDE_GERMANY),
        ("DE", "CH", "", OUTSIDE_GERMANY),
        ("US", "US", "", USUAL),
        ("US", "DE", "DE136695976", OUTSIDE_US),
        # Accounts whose country was never asked for, and sellers who haven't set theirs.
        ("DE", "", "", USUAL),
        ("", "FR", "FR40303265045", USUAL),
    ],
)
def test_tax_depends_on_both_countries_and_the_vat_id(
    seller: str, buyer: str, vat_id: str, tax: Tax
) -> None:
    assert tax_for(seller, buyer, vat_id, RATE) == tax


@pytest.mark.parametrize("buyer", ["DE", "FR", "US", ""])
def test_without_a_rate_there_is_no_tax_and_no_reason(buyer: str) -> None:
    assert tax_for("DE", buyer, "", Decimal(0)) == Tax(Decimal(0))


@pytest.mark.parametrize(
    ("country", "text", "vat_id"),
    [
        ("DE", "DE136695976", "DE136695976"),
        ("DE", " de 136 695 976 ", "DE136695976"),
        ("DE", "136695976", "DE136695976"),
        ("FR", "FR 40 303 265 045", "FR40303265045"),
        ("PL", "PL 526-000-12-46", "PL5260001246"),
        ("AT", "U13585627", "ATU13585627"),
        ("GR", "EL094259216", "EL094259216"),
        ("GR", "GR094259216", "EL094259216"),
        ("GR", "094259216", "EL094259216"),
    ],
)
def test_vat_id_is_stored_in_its_usual_form(country: str, text: str, vat_id: str) -> None:
    assert parse_vat_id(country, text) == vat_id


@pytest.mark.parametrize(
    ("country", "text"),
    [
        ("DE", "DE136695977"),
        ("DE", "DE13669597"),
        ("DE", "FR40303265045"),
        ("FR", "DE136695976"),
        ("DE", "EU372022452"),
        ("IE", "XI123456789"),
        ("DE", "SH123"),
        ("DE", "DE"),
        ("DE", "١٣٦٦٩٥٩٧٦"),
    ],
)
def test_vat_id_that_is_wrong_or_of_another_country_is_refused(country: str, text: str) -> None:
    with pytest.raises(InvalidVatId):
        parse_vat_id(country, text)
