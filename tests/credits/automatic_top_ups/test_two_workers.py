"""Workers, events, and members act at the same time, each on its own connection.

There are never two orders at a time, never two within 10 minutes, and never more than the cap.
"""

import random

import pytest

from accounts.models import Account
from credits.automatic_top_ups.rules import spent_cents
from credits.automatic_top_ups.services import switch_off
from credits.models import AutomaticTopUp, Order, SavedCard, Wallet
from credits.payments.cards import forget_detached_card
from credits.wallet.books import find_discrepancies
from runtime.models import Mail
from tests.credits.automatic_top_ups.helpers import (
    PRICE,
    audited,
    get_top_up,
    give_card,
    order_states,
    run_worker,
    run_worker_later,
    set_balance,
    switch_on_top_up,
)
from tests.credits.customers import balance, sign_up
from tests.credits.payments.stripe_helpers import send_event
from tests.servers.stripe import FakeStripe
from tests.support.fresh_database import run_concurrently

pytestmark = pytest.mark.usefixtures("fresh_database")

WORKERS = 4


@pytest.fixture
def shop(stripe: FakeStripe) -> Account:
    account = sign_up("owner@shop.example", "The Shop")
    give_card(stripe, account)
    switch_on_top_up(account, cap_cents=3 * PRICE)
    return account


def run_workers() -> None:
    assert set(run_concurrently(WORKERS, lambda _: run_worker())) == {None}


def test_workers_buy_one_pack(stripe: FakeStripe, shop: Account) -> None:
    run_workers()
    assert (order_states(shop), len(stripe.charged)) == (["paid"], 1)
    assert Mail.objects.filter(subject__startswith="Receipt").count() == 1
    assert not list(find_discrepancies())


def test_workers_never_buy_beyond_the_cap_nor_within_ten_minutes(
    stripe: FakeStripe, shop: Account
) -> None:
    for expected in (1, 2, 3, 3, 3):
        set_balance(shop, 0)
        # The first of them moves the clock. The others find the order of this round.
        run_worker_later()
        run_workers()
        assert len(stripe.charged) == expected
    assert spent_cents(shop) == 3 * PRICE
    assert order_states(shop) == ["paid"] * 3


def test_workers_place_one_order_while_another_is_being_paid(
    stripe: FakeStripe, shop: Account
) -> None:
    """The other workers run while Stripe decides on the first worker's payment."""
    states: list[list[str]] = []

    def run_other(_: int) -> list[str]:
        run_worker()
        return order_states(shop)

    def run_others() -> None:
        stripe.on_confirm = lambda: None
        states.extend(run_concurrently(1, run_other))

    stripe.on_confirm = run_others
    run_worker()
    assert states == [["pending"]]
    assert (order_states(shop), len(stripe.charged)) == (["paid"], 1)


def test_worker_that_lost_its_lease_charges_nothing_twice(
    stripe: FakeStripe, shop: Account
) -> None:
    """Stripe takes longer than the lease, so another worker resumes the same order."""

    def take_over() -> None:
        stripe.on_confirm = lambda: None
        run_concurrently(1, lambda _: AutomaticTopUp.objects.update(leased_until=None))

    stripe.on_confirm = take_over
    run_workers()
    run_worker_later(minutes=3)
    assert (order_states(shop), len(stripe.charged)) == (["paid"], 1)
    assert not list(find_discrepancies())


def test_event_and_worker_report_a_payment_at_the_same_time(
    stripe: FakeStripe, shop: Account
) -> None:
    stripe.lost = {"confirm"}
    run_worker()
    stripe.lost = set()
    (intent,) = stripe.intents.values()
    event = stripe.event("payment_intent.succeeded", intent)
    AutomaticTopUp.objects.update(next_attempt_at=get_top_up(shop).last_order_at)
    actions = [lambda: send_event(event), run_worker] * 3
    run_concurrently(len(actions), lambda number: actions[number]())
    assert (order_states(shop), len(stripe.charged)) == (["paid"], 1)
    assert Mail.objects.filter(subject__startswith="Receipt").count() == 1
    assert not list(find_discrepancies())


def test_card_that_several_events_detach_is_removed_once(shop: Account) -> None:
    card = SavedCard.objects.get(account=shop).provider_card
    run_concurrently(8, lambda _: forget_detached_card(card))
    assert not SavedCard.objects.exists()
    assert audited(shop).count("card.removed") == 1


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_actions_keeps_the_promises(
    stripe: FakeStripe, shop: Account, seed: int
) -> None:
    """Workers, declines, lost responses, and changed settings, in a random order."""
    chance = random.Random(seed)
    for _ in range(12):
        stripe.decline = chance.choice(["", "", "card_declined"])
        stripe.lost = chance.choice([set(), set(), {"confirm"}, {"create"}])
        action = chance.choice(["later", "later", "now", "on", "off", "spend", "replace"])
        _act(action, stripe, shop, chance)
        run_workers()
        _assert_promises(stripe, shop)
    stripe.decline, stripe.lost = "", set()
    run_worker_later()
    run_worker_later()
    _assert_promises(stripe, shop)
    assert get_top_up(shop).open_order is None
    paid = Order.objects.filter(state="paid")
    assert {order.provider_payment for order in paid} == set(stripe.charged)


def _act(action: str, stripe: FakeStripe, shop: Account, chance: random.Random) -> None:
    if action == "later":
        run_worker_later(minutes=chance.choice([1, 3, 11]))
    elif action == "on":
        switch_on_top_up(shop, cap_cents=chance.choice([2, 3]) * PRICE)
    elif action == "off":
        switch_off(account=shop, reason=AutomaticTopUp.Off.MEMBER)
    elif action == "spend":
        Wallet.objects.filter(account=shop).update(balance=chance.choice([0, 499, 500]))
    elif action == "replace":
        SavedCard.objects.filter(account=shop).delete()
        give_card(stripe, shop)


def _assert_promises(stripe: FakeStripe, shop: Account) -> None:
    charged = [stripe.intents[intent]["metadata"]["order"] for intent in stripe.charged]
    assert len(charged) == len(set(charged))
    # The cap was three packs at most.
    assert len(charged) <= 3
    being_paid = Order.objects.filter(state="pending", automatic__outcome="")
    assert being_paid.count() <= 1
    assert balance(shop) >= 0
