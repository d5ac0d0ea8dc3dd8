"""What Billing says about the saved card and automatic top-up in each state."""

from datetime import UTC, datetime

import pytest
import time_machine

from accounts.models import Account
from credits.automatic_top_ups.rules import Costs
from credits.models import AutomaticTopUp, Pack, Plan, SavedCard, Subscription
from credits.presenters.automatic_top_up import (
    BillingRow,
    card_row,
    consequences_of_removal,
    top_up_row,
)

ACCOUNT = Account(pk=1, name="The Shop")
PACK = Pack(pk=1, credits=10_000, price_cents=3_500)
NOVEMBER = datetime(2026, 11, 25, 9, tzinfo=UTC)
SENTENCE = (
    "Buys 10,000 credits for $35.00 when the balance falls below 500, at most $105.00 per month. "
    "$35.00 used in November (UTC)."
)
Off, Pause = AutomaticTopUp.Off, AutomaticTopUp.Pause


def card(year: int = 2030) -> SavedCard:
    return SavedCard(
        account=ACCOUNT, brand="Visa", last_four="4242", expires_month=8, expires_year=year
    )


def top_up(*, is_on: bool = True, off_for: str = "", failures: int = 0) -> AutomaticTopUp:
    return AutomaticTopUp(
        account=ACCOUNT,
        is_on=is_on,
        threshold=500,
        pack=PACK,
        cap_cents=10_500,
        currency="USD",
        off_for=off_for,
        off_at=NOVEMBER if off_for else None,
        failures=failures,
    )


def row(
    settings: AutomaticTopUp | None, obstacle: AutomaticTopUp.Pause | None = None
) -> BillingRow:
    costs = Costs(obstacle, None if obstacle == Pause.PACK_GONE else 3_500, 3_500)
    with time_machine.travel(NOVEMBER, tick=False):
        return top_up_row(settings, costs, has_card=obstacle != Pause.NO_CARD)


def state(shown: BillingRow) -> str:
    return shown.badge.text if shown.badge else ""


def actions(shown: BillingRow) -> list[str]:
    return [action.text for action in (*shown.actions, shown.post, shown.danger) if action]


def test_customer_who_comes_back_from_stripe_is_asked_to_wait() -> None:
    (line,) = card_row(None, is_returning=True).lines
    assert line == "Your card appears here once Stripe confirms it, usually within seconds."


@pytest.mark.parametrize(("moment", "expected"), [("2026-08-31", ""), ("2026-09-01", "Expired")])
def test_card_expires_after_its_last_month(moment: str, expected: str) -> None:
    with time_machine.travel(moment, tick=False):
        assert state(card_row(card(2026))) == expected


def test_card_can_be_added_replaced_and_removed() -> None:
    none, saved = card_row(None), card_row(card())
    assert (none.title, actions(none)) == ("No saved card", ["Add card"])
    assert (saved.title, saved.lines) == ("Visa ending in 4242", ["Expires 08/2030"])
    assert actions(saved) == ["Replace card", "Remove card"]


def test_top_up_that_was_never_used_can_be_set_up_with_a_card() -> None:
    assert (state(row(None)), actions(row(None))) == ("Off", ["Set up"])
    shown = top_up_row(None, None, has_card=False)
    assert (shown.lines[-1], actions(shown)) == ("Add a card to use it.", [])


@pytest.mark.parametrize("obstacle", Pause)
def test_paused_top_up_says_why(obstacle: AutomaticTopUp.Pause) -> None:
    shown = row(top_up(), obstacle)
    assert state(shown) == "Paused"
    assert shown.lines[0] != SENTENCE


@pytest.mark.parametrize("reason", Off)
def test_top_up_that_was_switched_off_says_when_and_why(reason: AutomaticTopUp.Off) -> None:
    shown = row(top_up(is_on=False, off_for=reason))
    assert (state(shown), actions(shown)) == ("Off", ["Set up"])
    if reason == Off.MEMBER:
        assert shown.lines == row(None).lines
    else:
        assert shown.lines[0].startswith("Switched off on 25 Nov 2026 because ")


def test_top_up_that_is_on_says_what_it_buys_and_whether_the_last_payment_failed() -> None:
    shown = row(top_up())
    assert (state(shown), shown.lines) == ("On", [SENTENCE])
    assert actions(shown) == ["Change", "Switch off"]
    failed = "The last payment failed. After another failure, we'll switch it off."
    assert row(top_up(failures=1)).lines == [SENTENCE, failed]


def test_removing_a_card_says_what_stops() -> None:
    plan = Plan(pk=1, name="Starter")
    renewing = Subscription(account=ACCOUNT, plan=plan, provider_subscription="sub_1")
    assert consequences_of_removal(renewing, top_up()) == [
        "Your Starter plan can't renew with this card. If its payment fails, the plan becomes "
        "Free.",
        "Automatic top-up is paused until you add another card.",
        "We also remove it from Stripe. Past orders and invoices stay.",
    ]
    assert len(consequences_of_removal(Subscription(account=ACCOUNT, plan=plan), None)) == 1
