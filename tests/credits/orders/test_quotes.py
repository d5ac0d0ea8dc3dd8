"""Quotes: what a page shows is what an order costs."""

from decimal import Decimal
from typing import Any

import pytest
from django.db.models import QuerySet
from pytest_django import Settings

from accounts.models import Account, User
from credits.models import Order, Pack, Plan
from credits.orders.placement import place_order
from credits.orders.quotes import Buyer, Quote, QuoteChanged, quote
from credits.plans.offers import OrderRefused

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SHOP = Buyer("The Shop Ltd")


@pytest.fixture
def shown(account: Account, pack: Pack) -> Quote:
    return quote(account, pack)


def test_order_has_the_terms_of_its_quote(
    account: Account, owner: User, plans: dict[str, Plan], settings: Settings
) -> None:
    settings.TAX_RATE = Decimal("0.19")
    shown = quote(account, plans["growth"])
    order = place_order(quote=shown, buyer=SHOP, actor=owner)
    amount = shown.amount
    assert (amount.net_cents, amount.tax_cents, amount.total_cents) == (9_900, 1_881, 11_781)
    assert (order.net_cents, order.tax_cents, order.total_cents) == (9_900, 1_881, 11_781)
    assert (order.kind, order.credits) == (shown.kind, shown.credits)
    assert order.description == shown.description


@pytest.mark.parametrize(
    "change",
    [
        *({"price_cents": 501}, {"price_cents": 499}, {"credits": 1}, {"requests_per_minute": 1}),
        *({"TAX_RATE": Decimal("0.1")}, {"CURRENCY": "EUR"}, {"STRIPE_SECRET_KEY": "sk_test"}),
    ],
)
def test_item_or_setting_changed_since_the_quote_is_not_ordered(
    shown: Quote, account: Account, owner: User, settings: Settings, change: dict[str, Any]
) -> None:
    make_change(Pack.objects.filter(pk=shown.item.pk), settings, change)
    with pytest.raises(QuoteChanged, match="your order wasn't placed"):
        place_order(quote=shown, buyer=SHOP, actor=owner)
    assert not account.orders.exists()


def make_change(items: QuerySet[Any], settings: Settings, change: dict[str, Any]) -> None:
    """Change a setting or a column."""
    ((name, value),) = change.items()
    if name.isupper():
        setattr(settings, name, value)
    else:
        items.update(**change)


def test_item_withdrawn_since_the_quote_is_refused(
    shown: Quote, account: Account, owner: User
) -> None:
    Pack.objects.update(is_offered=False)
    with pytest.raises(OrderRefused, match="no longer offered"):
        place_order(quote=shown, buyer=SHOP, actor=owner)
    assert not account.orders.exists()


@pytest.mark.both
def test_form_sent_twice_returns_its_order_even_if_the_price_changed(
    shown: Quote, owner: User
) -> None:
    first = place_order(quote=shown, buyer=SHOP, actor=owner, form_token="a" * 32)
    Pack.objects.update(price_cents=700)
    again = place_order(quote=shown, buyer=SHOP, actor=owner, form_token="a" * 32)
    assert again == first


def test_plan_is_not_ordered_a_second_time_on_the_same_terms(
    account: Account, owner: User, plans: dict[str, Plan]
) -> None:
    first = place_order(quote=quote(account, plans["starter"]), buyer=SHOP, actor=owner)
    again = quote(account, plans["starter"])
    assert (again.pending, again.replaced) == (first, ())
    assert place_order(quote=again, buyer=SHOP, actor=owner) == first


@pytest.mark.both
@pytest.mark.parametrize(
    "change", [{"price_cents": 1_600}, {"monthly_credits": 6_000}, {"TAX_RATE": Decimal("0.1")}]
)
def test_pending_order_on_old_terms_is_replaced(
    account: Account,
    owner: User,
    plans: dict[str, Plan],
    settings: Settings,
    change: dict[str, Any],
) -> None:
    old = place_order(quote=quote(account, plans["starter"]), buyer=SHOP, actor=owner)
    make_change(Plan.objects.filter(code="starter"), settings, change)
    new = quote(account, Plan.objects.get(code="starter"))
    assert (new.pending, new.replaced) == (None, (old,))
    order = place_order(quote=new, buyer=SHOP, actor=owner)
    assert (list(Order.objects.pending()), order.total_cents) == ([order], new.amount.total_cents)
