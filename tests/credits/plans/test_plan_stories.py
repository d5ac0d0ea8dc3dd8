"""What customers do with plans in an order nobody planned: they have what they paid for, and pay
for what they have."""

import pytest

from accounts.models import Account, User
from accounts.retention import delete_unconfirmed_users, erase_account
from accounts.services import close_account, note_confirmed, open_account, open_another_account
from credits.models import Order, Plan
from credits.orders import lifecycle, refunds
from credits.orders.renewals import RenewalsFailed, renew_subscriptions
from credits.plans import subscriptions as module
from credits.plans.offers import OrderRefused
from credits.services import grant, open_with_credits
from credits.wallet.books import differences
from tests.conftest import make_user
from tests.credits.customers import (
    buyer_of,
    choose_lower,
    limit_of,
    order,
    pay,
    plan,
    subscribe,
    use,
    waiting,
)
from tests.credits.days import covered_until, day_of_work, on, state_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(db: None) -> Account:
    """On Free since 21 November, without credits."""
    with on("2026-11-21"):
        account = open_account(user=make_user("buyer@shop.example"), name="The Shop")
        open_with_credits(account=account, credits=0)
    return account


def plan_on(shop: Account, day: str) -> str:
    day_of_work(day)
    return state_of(shop)[0]


def refund(placed: Order, day: str, *, told_by_provider: bool = False) -> None:
    with on(day):
        placed.refresh_from_db()
        assert refunds.refund_order(order=placed, told_by_provider=told_by_provider)


def test_another_plan_taken_in_the_days_of_grace_is_renewed_in_its_turn(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    old = waiting(shop)
    with on("2026-12-27"):
        taken = order(shop, "growth")
        assert (taken.kind, taken.net_cents) == ("renewal", 9_900)
        pay(taken)
    old.refresh_from_db()
    assert old.state == "cancelled"
    assert (state_of(shop)[0], covered_until(shop)) == ("growth", "2027-01-25")
    day_of_work("2027-01-18")
    assert (waiting(shop).plan, str(waiting(shop).period_start)) == (plan("growth"), "2027-01-25")
    assert plan_on(shop, "2027-01-31") == "growth"
    assert plan_on(shop, "2027-02-01") == "free"


def test_a_renewal_of_the_old_plan_that_is_paid_after_an_upgrade_is_a_month_of_the_old_plan(
    shop: Account,
) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    old = waiting(shop)
    with on("2026-12-19"):
        pay(order(shop, "growth"))
    day_of_work("2026-12-20")
    with on("2026-12-21"):
        pay(old)
    assert plan_on(shop, "2026-12-24") == "growth"
    assert plan_on(shop, "2026-12-25") == "starter"
    assert covered_until(shop) == "2027-01-25"
    day_of_work("2027-01-18")
    assert (waiting(shop).plan, str(waiting(shop).period_start)) == (plan("growth"), "2027-01-25")
    assert not list(differences())


def test_an_upgrade_is_paid_for_every_month_that_is_covered(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    with on("2026-12-19"):
        pay(waiting(shop))
        upgrade = order(shop, "growth")
        assert (upgrade.net_cents, upgrade.credits) == (2 * 8_400, 2 * 45_000)
        pay(upgrade)
    assert state_of(shop) == ("growth", 100_000)
    assert plan_on(shop, "2027-01-24") == "growth"


def test_an_upgrade_leaves_a_higher_month_that_is_paid_ahead_as_it_is(shop: Account) -> None:
    with on("2026-11-25"):
        scale = order(shop, "scale")
        pay(order(shop, "starter"))
        pay(scale)
        upgrade = order(shop, "growth")
        assert (upgrade.net_cents, str(upgrade.period_end)) == (8_400, "2026-12-25")
        pay(upgrade)
    assert plan_on(shop, "2026-12-24") == "growth"
    assert plan_on(shop, "2026-12-25") == "scale"


def test_a_second_upgrade_counts_the_first(shop: Account) -> None:
    subscribe(shop, "starter")
    with on("2026-12-01"):
        pay(order(shop, "growth"))
        upgrade = order(shop, "scale")
        assert (upgrade.net_cents, upgrade.credits) == (49_100, 450_000)
        pay(upgrade)
    assert state_of(shop) == ("scale", 500_000)


def test_the_difference_is_to_what_was_paid_whatever_the_plan_costs_today(shop: Account) -> None:
    subscribe(shop, "starter")
    Plan.objects.filter(code="starter").update(price_cents=9_800)
    with on("2026-12-01"):
        assert order(shop, "growth").net_cents == 8_400


def test_of_two_plans_at_one_price_none_is_an_upgrade(shop: Account) -> None:
    twin = Plan.objects.create(
        code="twin", name="Twin", price_cents=1_500, monthly_credits=9_000, requests_per_minute=300
    )
    subscribe(shop, "starter")
    with on("2026-12-01"):
        with pytest.raises(OrderRefused):
            order(shop, "twin")
        choose_lower(shop, "twin")
    day_of_work("2026-12-18")
    assert waiting(shop).plan == twin


def test_a_lower_month_that_is_paid_stands_whatever_is_chosen_then(shop: Account) -> None:
    subscribe(shop, "growth")
    with on("2026-12-01"):
        choose_lower(shop, "starter")
    day_of_work("2026-12-18")
    with on("2026-12-19"):
        pay(waiting(shop))
        choose_lower(shop, "growth")
    assert plan_on(shop, "2026-12-24") == "growth"
    assert plan_on(shop, "2026-12-26") == "starter"
    day_of_work("2027-01-18")
    assert waiting(shop).plan == plan("growth")


def test_an_upgrade_that_is_paid_too_late_brings_its_credits_and_no_month(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    with on("2026-12-20"):
        upgrade = order(shop, "growth")
    day_of_work("2027-01-01")
    upgrade.refresh_from_db()
    assert (upgrade.state, state_of(shop)[0]) == ("cancelled", "free")
    with on("2027-01-05"):
        pay(upgrade)
    assert state_of(shop) == ("free", 50_000)
    assert limit_of(shop) == 60


def test_a_refunded_renewal_gives_its_month_back(shop: Account) -> None:
    subscribe(shop, "growth")
    with on("2026-12-01"):
        choose_lower(shop, "starter")
    day_of_work("2026-12-18")
    renewal = waiting(shop)
    with on("2026-12-19"):
        pay(renewal)
    refund(renewal, "2026-12-20")
    assert covered_until(shop) == "2026-12-25"
    assert plan_on(shop, "2026-12-24") == "growth"


def test_a_month_that_was_paid_ahead_stands_when_the_one_before_is_refunded(shop: Account) -> None:
    first = subscribe(shop, "starter")
    day_of_work("2026-12-18")
    with on("2026-12-19"):
        pay(waiting(shop))
    refund(first, "2026-12-20")
    assert state_of(shop) == ("free", 5_000)
    assert plan_on(shop, "2026-12-25") == "starter"
    assert covered_until(shop) == "2027-01-25"


def test_the_refund_of_an_old_month_changes_nothing_of_todays(shop: Account) -> None:
    first = subscribe(shop, "starter")
    day_of_work("2026-12-18")
    with on("2026-12-19"):
        pay(waiting(shop))
        choose_lower(shop, "free")
    refund(first, "2026-12-28")
    assert state_of(shop)[0] == "starter"
    day_of_work("2027-01-20")
    assert not shop.orders.pending().exists()
    assert plan_on(shop, "2027-01-25") == "free"


def test_an_upgrade_stands_and_falls_with_what_it_is_built_on(shop: Account) -> None:
    base = subscribe(shop, "starter")
    with on("2026-12-01"):
        pay(order(shop, "growth"))
    with pytest.raises(OrderRefused, match="Refund INV-000002 first"):
        refund(base, "2026-12-02")
    refund(base, "2026-12-02", told_by_provider=True)
    assert state_of(shop) == ("free", 45_000)


def test_a_refunded_plan_is_not_asked_for_again(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    refund(shop.orders.get(kind="plan"), "2026-12-19")
    day_of_work("2026-12-20")
    assert not shop.orders.pending().exists()


def test_a_cancelled_renewal_and_the_one_written_anew_both_paid_are_two_months(
    shop: Account,
) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    first = waiting(shop)
    with on("2026-12-19"):
        lifecycle.cancel_order(order=first)
    day_of_work("2026-12-20")
    second = waiting(shop)
    with on("2026-12-21"):
        pay(second)
        pay(first)
    assert (state_of(shop), covered_until(shop)) == (("starter", 15_000), "2027-02-25")


def test_the_days_of_grace_cannot_be_stretched(shop: Account) -> None:
    subscribe(shop, "scale")
    day_of_work("2026-12-18")
    for day, lower in (("2026-12-26", "growth"), ("2026-12-30", "starter")):
        with on(day):
            choose_lower(shop, lower)
        day_of_work(day)
        assert str(waiting(shop).due_on) == "2027-01-01"
    assert plan_on(shop, "2026-12-31") == "starter"
    assert plan_on(shop, "2027-01-01") == "free"


def test_staff_end_what_is_left_of_a_paid_month(shop: Account, staff: User) -> None:
    subscribe(shop, "growth")
    with on("2026-12-01"):
        module.give_plan(account=shop, plan=plan("free"), reason="Asked for it", actor=staff)
    assert (state_of(shop)[0], limit_of(shop)) == ("free", 60)
    day_of_work("2026-12-20")
    assert not shop.orders.pending().exists()


def test_a_given_plan_is_a_base_for_an_upgrade_at_full_price(shop: Account, staff: User) -> None:
    with on("2026-12-01"):
        module.give_plan(account=shop, plan=plan("starter"), reason="A pilot", actor=staff)
        upgrade = order(shop, "growth")
        assert (upgrade.net_cents, upgrade.credits) == (9_900, 50_000)
        pay(upgrade)
    assert state_of(shop) == ("growth", 50_000)
    assert not list(differences())


def test_an_account_of_the_31st_keeps_its_day(shop: Account) -> None:
    subscribe(shop, "starter", "2027-01-31")
    assert covered_until(shop) == "2027-02-28"
    day_of_work("2027-02-21")
    with on("2027-02-22"):
        pay(waiting(shop))
    assert covered_until(shop) == "2027-03-31"


def test_a_closed_account_owes_nothing_and_can_be_erased(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    with on("2026-12-19"):
        close_account(account=shop, actor=buyer_of(shop))
    assert not shop.orders.pending().exists()
    with on("2027-02-01"):
        shop.refresh_from_db()
        erase_account(account=shop)
    shop.refresh_from_db()
    assert shop.erased_at
    assert shop.orders.filter(buyer_name="The Shop Ltd").count() == 2
    assert not list(differences())


def test_an_opening_balance_of_0_stays_0_whatever_is_confirmed_later(shop: Account) -> None:
    open_another_account(user=buyer_of(shop), name="Second")
    note_confirmed(user=buyer_of(shop))
    assert state_of(shop) == ("free", 0)


def test_a_grant_to_somebody_who_never_confirmed_keeps_no_one_else_waiting(db: None) -> None:
    with on("2026-11-01"):
        for number in range(2):
            user = User.objects.create_user(f"never{number}@shop.example", "a long password")
            account = open_account(user=user)
            if number == 0:
                grant(account=account, amount=5, reason="By mistake", actor=None)
    with on("2026-11-21"):
        delete_unconfirmed_users()
        delete_unconfirmed_users()
    assert not User.objects.exists()
    kept = Account.objects.get()
    assert (kept.name, kept.is_open) == ("Closed account", False)
    assert not list(differences())


def test_one_account_that_cannot_be_looked_after_holds_up_no_other(shop: Account) -> None:
    with on("2026-11-21"):
        other = open_account(user=make_user("other@shop.example"), name="Other")
        open_with_credits(account=other, credits=1)
        use(other, 1)
    # As if somebody had removed a row by hand.
    shop.wallet.delete()
    with on("2026-12-21"), pytest.raises(RenewalsFailed, match=shop.public_id):
        renew_subscriptions()
    assert state_of(other) == ("free", 100)
