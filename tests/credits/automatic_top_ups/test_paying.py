"""The background worker buys a pack when the balance is low, unless that is no longer wanted."""

import pytest
from django.utils import timezone

from accounts.models import Account
from credits.models import AutomaticTopUp, Order, SavedCard
from credits.orders import placement
from credits.wallet.books import find_discrepancies
from tests.credits.automatic_top_ups.helpers import (
    CREDITS,
    PRICE,
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
from tests.credits.customers import balance, use_credits
from tests.servers.stripe import FakeStripe

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.mark.both
def test_low_balance_buys_the_pack_with_the_saved_card(stripe: FakeStripe, shop: Account) -> None:
    run_worker()
    order = last_order(shop)
    assert (order.state, order.method, order.total_cents) == ("paid", "stripe", PRICE)
    assert (order.invoice_number, order.placed_by) == (1, "automatic top-up")
    assert balance(shop) == 100 + CREDITS
    (charged,) = stripe.charged
    intent = stripe.intents[charged]
    assert (order.provider_payment, intent["amount"], intent["currency"]) == (charged, PRICE, "usd")
    assert intent["payment_method"] == SavedCard.objects.get(account=shop).provider_card
    assert subjects() == ["Receipt INV-000001: automatic top-up of 1,000 credits, $5.00"]
    assert audited(shop)[-2:] == ["order.placed", "order.paid"]
    assert get_top_up(shop).open_order is None
    assert not list(find_discrepancies())


def test_balance_at_the_threshold_buys_nothing(stripe: FakeStripe, shop: Account) -> None:
    set_balance(shop, 500)
    run_worker()
    assert order_states(shop) == []
    set_balance(shop, 499)
    run_worker()
    assert order_states(shop) == ["paid"]


def test_charge_that_crosses_the_threshold_is_followed_by_an_order(
    stripe: FakeStripe, account: Account
) -> None:
    give_card(stripe, account)
    switch_on_top_up(account, threshold=60)
    run_worker()
    assert order_states(account) == []
    use_credits(account, 41)
    run_worker()
    assert balance(account) == 59 + CREDITS


def test_next_order_waits_for_ten_minutes_also_after_switching_on_again(
    stripe: FakeStripe, shop: Account
) -> None:
    run_worker()
    set_balance(shop, 0)
    run_worker()
    switch_on_top_up(shop)
    run_worker()
    run_worker_later(minutes=9)
    assert order_states(shop) == ["paid"]
    run_worker_later(minutes=2)
    assert order_states(shop) == ["paid", "paid"]


@pytest.mark.parametrize("column", ["suspended_at", "closed_at", "is_on"])
def test_suspended_or_closed_account_or_switched_off_top_up_buys_nothing(
    stripe: FakeStripe, shop: Account, column: str
) -> None:
    if column == "is_on":
        AutomaticTopUp.objects.update(is_on=False)
    else:
        Account.objects.filter(pk=shop.pk).update(**{column: timezone.now()})
    run_worker()
    assert order_states(shop) == []


def test_order_is_given_up_if_the_balance_recovers_before_it_is_paid(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.is_down = True
    run_worker()
    stripe.is_down = False
    set_balance(shop, 2_000)
    run_worker_later(minutes=1)
    assert (order_states(shop), stripe.charged) == (["cancelled"], [])
    assert last_order(shop).automatic.outcome == "abandoned"


@pytest.mark.both
@pytest.mark.parametrize("by_member", [False, True])
def test_unconfirmed_payment_is_canceled_after_switching_off_or_canceling_the_order(
    stripe: FakeStripe, shop: Account, by_member: bool
) -> None:
    order, intent = place_without_confirming(stripe, shop)
    if by_member:
        placement.cancel_order(order=order)
    else:
        AutomaticTopUp.objects.update(is_on=False)
    run_worker_later(minutes=1)
    order.refresh_from_db()
    assert (order.state, stripe.intents[intent]["status"]) == ("cancelled", "canceled")
    assert stripe.charged == []


def place_without_confirming(stripe: FakeStripe, shop: Account) -> tuple[Order, str]:
    """Place an order whose payment is created and stored, as if the worker died after that."""
    stripe.is_down = True
    run_worker()
    stripe.is_down = False
    automatic = last_order(shop).automatic
    intent = stripe.handle(
        "POST",
        "/v1/payment_intents",
        {"amount": "500", "currency": "usd", "payment_method": automatic.provider_card}
        | {"customer": "cus_shop"},
    )["id"]
    automatic.provider_intent = intent
    automatic.save()
    return automatic.order, intent
