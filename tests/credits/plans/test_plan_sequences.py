"""Unusual sequences of orders, payments, refunds, and plan changes."""

import pytest

from accounts.models import Account, User
from accounts.retention import delete_unconfirmed_users, erase_account
from accounts.services import (
    close_account,
    open_account,
    open_another_account,
    run_email_confirmed_hooks,
)
from credits.models import Order, Plan
from credits.orders import placement, refunds
from credits.orders.daily_jobs import RenewalsFailed, renew_subscriptions
from credits.plans import changes
from credits.plans.offers import OrderRefused
from credits.services import grant, set_opening_balance
from credits.wallet.books import find_discrepancies
from tests.conftest import make_user
from tests.credits.customers import (
    get_buyer,
    get_rate_limit,
    pay,
    pending_order,
    place_order,
    plan,
    schedule_lower_plan,
    subscribe,
    use_credits,
)
from tests.credits.time_travel import covered_until, on, plan_and_balance, renew_plans

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture
def shop(db: None) -> Account:
    """Open an account on Free on 21 November, without credits."""
    with on("2026-11-21"):
        account = open_account(user=make_user("buyer@shop.example"), name="The Shop")
        set_opening_balance(account=account, credits=0)
    return account


def plan_on(shop: Account, day: str) -> str:
    renew_plans(day)
    return plan_and_balance(shop)[0]


def refund(order: Order, day: str, *, reported_by_provider: bool = False) -> None:
    with on(day):
        order.refresh_from_db()
        assert refunds.refund_order(order=order, reported_by_provider=reported_by_provider)


def test_plan_ordered_in_the_grace_period_replaces_the_renewal(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    old = pending_order(shop)
    with on("2026-12-27"):
        new = place_order(shop, "growth")
        assert (new.kind, new.net_cents) == ("renewal", 9_900)
        pay(new)
    old.refresh_from_db()
    assert old.state == "cancelled"
    assert (plan_and_balance(shop)[0], covered_until(shop)) == ("growth", "2027-01-25")
    renew_plans("2027-01-18")
    renewal = pending_order(shop)
    assert (renewal.plan, str(renewal.period_start)) == (plan("growth"), "2027-01-25")
    assert plan_on(shop, "2027-01-31") == "growth"
    assert plan_on(shop, "2027-02-01") == "free"


def test_old_renewal_paid_after_an_upgrade_is_a_month_of_the_old_plan(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    old = pending_order(shop)
    with on("2026-12-19"):
        pay(place_order(shop, "growth"))
    old.refresh_from_db()
    assert old.state == "cancelled"
    renew_plans("2026-12-20")
    assert (pending_order(shop).plan, pending_order(shop).net_cents) == (plan("growth"), 9_900)
    with on("2026-12-21"):
        pay(old)
    assert plan_on(shop, "2026-12-24") == "growth"
    assert plan_on(shop, "2026-12-25") == "starter"
    assert covered_until(shop) == "2027-01-25"
    renew_plans("2027-01-18")
    renewal = pending_order(shop)
    assert (renewal.plan, str(renewal.period_start)) == (plan("growth"), "2027-01-25")
    assert not list(find_discrepancies())


def test_upgrade_excludes_a_later_month_with_a_higher_plan(shop: Account) -> None:
    with on("2026-11-25"):
        scale = place_order(shop, "scale")
        pay(place_order(shop, "starter"))
        pay(scale)
        upgrade = place_order(shop, "growth")
        assert (upgrade.net_cents, str(upgrade.period_end)) == (8_400, "2026-12-25")
        pay(upgrade)
    assert plan_on(shop, "2026-12-24") == "growth"
    assert plan_on(shop, "2026-12-25") == "scale"


def test_plan_at_the_same_price_is_not_an_upgrade(shop: Account) -> None:
    twin = Plan.objects.create(
        code="twin", name="Twin", price_cents=1_500, monthly_credits=9_000, requests_per_minute=300
    )
    subscribe(shop, "starter")
    with on("2026-12-01"):
        with pytest.raises(OrderRefused):
            place_order(shop, "twin")
        schedule_lower_plan(shop, "twin")
    renew_plans("2026-12-18")
    assert pending_order(shop).plan == twin


def test_paid_month_of_a_lower_plan_remains_after_choosing_the_higher_plan_again(
    shop: Account,
) -> None:
    subscribe(shop, "growth")
    with on("2026-12-01"):
        schedule_lower_plan(shop, "starter")
    renew_plans("2026-12-18")
    with on("2026-12-19"):
        pay(pending_order(shop))
        schedule_lower_plan(shop, "growth")
    assert plan_on(shop, "2026-12-24") == "growth"
    assert plan_on(shop, "2026-12-26") == "starter"
    renew_plans("2027-01-18")
    assert pending_order(shop).plan == plan("growth")


def test_upgrade_paid_after_its_period_grants_credits_but_no_plan(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    with on("2026-12-20"):
        upgrade = place_order(shop, "growth")
    renew_plans("2027-01-01")
    upgrade.refresh_from_db()
    assert (upgrade.state, plan_and_balance(shop)[0]) == ("cancelled", "free")
    with on("2027-01-05"):
        pay(upgrade)
    assert plan_and_balance(shop) == ("free", 50_000)
    assert get_rate_limit(shop) == 60


def test_refund_of_a_past_month_leaves_the_current_plan_unchanged(shop: Account) -> None:
    first = subscribe(shop, "starter")
    renew_plans("2026-12-18")
    with on("2026-12-19"):
        pay(pending_order(shop))
        schedule_lower_plan(shop, "free")
    refund(first, "2026-12-28")
    assert plan_and_balance(shop)[0] == "starter"
    renew_plans("2027-01-20")
    assert not shop.orders.pending().exists()
    assert plan_on(shop, "2027-01-25") == "free"


def test_month_under_an_upgrade_must_not_be_refunded_first(shop: Account) -> None:
    base = subscribe(shop, "starter")
    with on("2026-12-01"):
        pay(place_order(shop, "growth"))
    with pytest.raises(OrderRefused, match="Refund INV-000002 first"):
        refund(base, "2026-12-02")
    refund(base, "2026-12-02", reported_by_provider=True)
    assert plan_and_balance(shop) == ("free", 45_000)


def test_refunded_plan_is_not_renewed(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    refund(shop.orders.get(kind="plan"), "2026-12-19")
    renew_plans("2026-12-20")
    assert not shop.orders.pending().exists()


def test_cancelled_renewal_and_its_replacement_both_paid_are_two_months(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    first = pending_order(shop)
    with on("2026-12-19"):
        placement.cancel_order(order=first)
    renew_plans("2026-12-20")
    second = pending_order(shop)
    with on("2026-12-21"):
        pay(second)
        pay(first)
    assert (plan_and_balance(shop), covered_until(shop)) == (("starter", 15_000), "2027-02-25")


def test_grace_period_cannot_be_extended(shop: Account) -> None:
    subscribe(shop, "scale")
    renew_plans("2026-12-18")
    for day, lower in (("2026-12-26", "growth"), ("2026-12-30", "starter")):
        with on(day):
            schedule_lower_plan(shop, lower)
        renew_plans(day)
        assert str(pending_order(shop).due_on) == "2027-01-01"
    assert plan_on(shop, "2026-12-31") == "starter"
    assert plan_on(shop, "2027-01-01") == "free"


def test_staff_can_end_a_paid_month(shop: Account, staff: User) -> None:
    subscribe(shop, "growth")
    with on("2026-12-01"):
        changes.assign_plan(account=shop, plan=plan("free"), reason="Asked for it", actor=staff)
    assert (plan_and_balance(shop)[0], get_rate_limit(shop)) == ("free", 60)
    renew_plans("2026-12-20")
    assert not shop.orders.pending().exists()


def test_closed_account_is_not_renewed_and_can_be_erased(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    with on("2026-12-19"):
        close_account(account=shop, actor=get_buyer(shop))
    assert not shop.orders.pending().exists()
    renew_plans("2026-12-20")
    assert not shop.orders.pending().exists()
    assert plan_and_balance(shop) == ("starter", 5_000)
    with on("2027-02-01"):
        shop.refresh_from_db()
        erase_account(account=shop)
    shop.refresh_from_db()
    assert shop.erased_at
    assert shop.orders.filter(buyer_name="The Shop Ltd").count() == 2
    assert not list(find_discrepancies())


def test_opening_balance_of_0_stays_0_after_a_confirmation(shop: Account) -> None:
    open_another_account(user=get_buyer(shop), name="Second")
    run_email_confirmed_hooks(user=get_buyer(shop))
    assert plan_and_balance(shop) == ("free", 0)


def test_unconfirmed_user_with_a_grant_does_not_block_deletion_of_the_others(db: None) -> None:
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
    account = Account.objects.get()
    assert (account.name, account.is_open) == ("Closed account", False)
    assert not list(find_discrepancies())


def test_account_that_fails_to_renew_does_not_block_the_others(shop: Account) -> None:
    with on("2026-11-21"):
        other = open_account(user=make_user("other@shop.example"), name="Other")
        set_opening_balance(account=other, credits=1)
        use_credits(other, 1)
    # As if a row had been deleted manually.
    shop.wallet.delete()
    with on("2026-12-21"), pytest.raises(RenewalsFailed, match=shop.public_id):
        renew_subscriptions()
    assert plan_and_balance(other) == ("free", 100)
