"""The monthly cap, what pauses automatic top-up, and what switches it off."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
import time_machine
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import close_account
from credits.automatic_top_ups.rules import spent_cents
from credits.automatic_top_ups.services import switch_off
from credits.models import AutomaticTopUp, Order, Pack, SavedCard
from runtime.http.refusals import Refused
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
from tests.credits.customers import balance
from tests.credits.payments.stripe_helpers import buy, send_event
from tests.servers.stripe import FakeStripe

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

Off, Pause = AutomaticTopUp.Off, AutomaticTopUp.Pause


@pytest.fixture
def shop(stripe: FakeStripe, account: Account) -> Account:
    """Return an account with a card, 100 credits, and automatic top-up for two packs per month."""
    give_card(stripe, account)
    switch_on_top_up(account, cap_cents=2 * PRICE)
    return account


def empty_and_run(account: Account) -> None:
    set_balance(account, 0)
    run_worker_later()


@pytest.mark.both
def test_orders_stop_at_the_monthly_cap(stripe: FakeStripe, shop: Account) -> None:
    for _ in range(4):
        empty_and_run(shop)
    assert order_states(shop) == ["paid", "paid"]
    assert spent_cents(shop) == 2 * PRICE
    assert get_top_up(shop).paused_for == Pause.CAP
    # One email, however often the worker looks.
    assert subjects().count("Automatic top-up is paused for The Shop") == 1
    assert audited(shop).count("top_up.paused") == 1


def test_cap_includes_tax(stripe: FakeStripe, account: Account, settings: Settings) -> None:
    settings.TAX_RATE = Decimal("0.2")
    give_card(stripe, account)
    switch_on_top_up(account, cap_cents=2 * 600 - 1)
    empty_and_run(account)
    empty_and_run(account)
    assert order_states(account) == ["paid"]
    assert last_order(account).total_cents == 600


@pytest.mark.both
def test_refunded_order_counts_for_the_cap_and_orders_by_hand_do_not(
    stripe: FakeStripe, shop: Account, pack: Pack
) -> None:
    order = buy(stripe, shop, pack)
    assert spent_cents(shop) == 0
    send_event(stripe.refund(stripe.find_session(order.public_id), PRICE))
    assert get_top_up(shop).is_on
    empty_and_run(shop)
    refunded = last_order(shop)
    Order.objects.filter(pk=refunded.pk).update(state="refunded", refunded_at=refunded.paid_at)
    assert spent_cents(shop) == PRICE


def test_next_month_has_a_cap_of_its_own(stripe: FakeStripe, account: Account) -> None:
    give_card(stripe, account)
    with time_machine.travel(datetime(2026, 11, 30, 23, 49, tzinfo=UTC), tick=False):
        switch_on_top_up(account, cap_cents=PRICE)
        run_worker()
    set_balance(account, 0)
    with time_machine.travel(datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC), tick=False):
        run_worker()
        assert get_top_up(account).paused_for == Pause.CAP
    with time_machine.travel(datetime(2026, 12, 1, 0, 9, 59, tzinfo=UTC), tick=False):
        run_worker()
        assert order_states(account) == ["paid", "paid"]
        assert get_top_up(account).paused_for == ""


@pytest.mark.both
def test_order_placed_in_november_and_paid_in_december_counts_for_both(
    stripe: FakeStripe, account: Account
) -> None:
    give_card(stripe, account)
    with time_machine.travel(datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC), tick=False):
        switch_on_top_up(account, cap_cents=PRICE)
        stripe.is_down = True
        run_worker()
        assert spent_cents(account) == PRICE
    stripe.is_down = False
    with time_machine.travel(datetime(2026, 12, 1, 0, 1, tzinfo=UTC), tick=False):
        run_worker()
        assert (order_states(account), spent_cents(account)) == (["paid"], PRICE)
    set_balance(account, 0)
    with time_machine.travel(datetime(2026, 12, 1, 0, 30, tzinfo=UTC), tick=False):
        run_worker()
        assert order_states(account) == ["paid"]


def test_order_is_given_up_if_the_cap_was_lowered_before_it_is_paid(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.is_down = True
    run_worker()
    stripe.is_down = False
    switch_on_top_up(shop, cap_cents=PRICE - 1)
    run_worker()
    assert (order_states(shop), stripe.charged) == (["cancelled"], [])


@pytest.mark.parametrize("pause", [Pause.NO_CARD, Pause.PACK_GONE, Pause.CURRENCY, Pause.PRICE])
def test_obstacle_pauses_with_one_email_until_it_is_gone(
    stripe: FakeStripe, shop: Account, settings: Settings, pause: AutomaticTopUp.Pause
) -> None:
    set_obstacle(shop, settings, pause, exists=True)
    run_worker()
    run_worker_later()
    assert (order_states(shop), get_top_up(shop).paused_for) == ([], pause)
    assert subjects() == ["Automatic top-up is paused for The Shop"]
    assert audited(shop)[-1] == "top_up.paused"
    set_obstacle(shop, settings, pause, exists=False)
    if pause == Pause.NO_CARD:
        give_card(stripe, shop)
    run_worker_later()
    assert (order_states(shop), get_top_up(shop).paused_for) == (["paid"], "")


def set_obstacle(
    shop: Account, settings: Settings, pause: AutomaticTopUp.Pause, *, exists: bool
) -> None:
    if pause == Pause.NO_CARD:
        SavedCard.objects.filter(account=shop).delete()
    elif pause == Pause.PACK_GONE:
        Pack.objects.update(is_offered=not exists)
    elif pause == Pause.CURRENCY:
        settings.CURRENCY = "EUR" if exists else "USD"
    else:
        Pack.objects.filter(pk=get_top_up(shop).pack_id).update(
            price_cents=2 * PRICE + 1 if exists else PRICE
        )


def test_new_settings_end_a_pause(stripe: FakeStripe, shop: Account) -> None:
    Pack.objects.filter(pk=get_top_up(shop).pack_id).update(price_cents=3 * PRICE)
    run_worker()
    switch_on_top_up(shop, cap_cents=3 * PRICE)
    run_worker()
    assert order_states(shop) == ["paid"]


def test_switching_on_needs_a_card(stripe: FakeStripe, account: Account) -> None:
    with pytest.raises(Refused, match="Save a card first"):
        switch_on_top_up(account)


@pytest.mark.parametrize(("cents", "left"), [(PRICE, 100), (100, 100 + CREDITS * 4 // 5)])
def test_refund_of_an_automatic_order_switches_off(
    stripe: FakeStripe, shop: Account, cents: int, left: int
) -> None:
    run_worker()
    event = stripe.refund_payment(last_order(shop).provider_payment, cents, metadata={})
    assert [send_event(event), send_event(event)] == [200, 200]
    top_up = get_top_up(shop)
    assert (top_up.is_on, top_up.off_for) == (False, Off.REFUND)
    assert subjects().count("Automatic top-up is off for The Shop") == 1
    assert balance(shop) == left


def test_dispute_of_an_automatic_order_switches_off(stripe: FakeStripe, shop: Account) -> None:
    run_worker()
    dispute = {"payment_intent": last_order(shop).provider_payment, "amount": PRICE, "metadata": {}}
    assert send_event(stripe.event("charge.dispute.created", dispute)) == 200
    assert get_top_up(shop).off_for == Off.DISPUTE
    # The credits are deducted once the dispute is lost.
    assert balance(shop) == 100 + CREDITS


def test_switching_off_is_recorded_once(stripe: FakeStripe, shop: Account, owner: User) -> None:
    assert switch_off(account=shop, reason=Off.MEMBER, actor=owner)
    assert not switch_off(account=shop, reason=Off.MEMBER, actor=owner)
    entry = shop.audit_entries.latest("pk")
    assert (entry.action, entry.actor) == ("top_up.switched_off", owner)
    assert entry.target == "Switched off by a member"


def test_closing_the_account_switches_off(stripe: FakeStripe, shop: Account, owner: User) -> None:
    close_account(account=shop, actor=owner)
    assert get_top_up(shop).off_for == Off.CLOSED
