"""Plans over several months: granted when paid, renewed, changed, and ended, each once."""

import pytest

from accounts.models import Account, User
from accounts.services import open_account, run_email_confirmed_hooks
from credits.models import OrderState, Pack, Plan, Wallet
from credits.orders import refunds
from credits.plans import changes
from credits.services import grant
from credits.wallet.books import find_discrepancies
from runtime.http.refusals import Refused
from runtime.models import Mail
from tests.credits.customers import (
    balance_and_debt,
    get_buyer,
    get_rate_limit,
    pay,
    pending_order,
    place_order,
    plan,
    schedule_lower_plan,
    sign_up,
    subscribe,
    use_credits,
)
from tests.credits.time_travel import (
    covered_until,
    on,
    plan_and_balance,
    renew_plans,
    topped_up_until,
)

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture
def shop(db: None) -> Account:
    """Open an account on Free on 21 November, with sign-up credits."""
    with on("2026-11-21"):
        return sign_up("buyer@shop.example", "The Shop")


def count_emails(subject: str) -> int:
    return Mail.objects.filter(subject__contains=subject).count()


@pytest.mark.both
def test_plans_and_packs_match_the_price_list(plans: dict[str, Plan]) -> None:
    assert [
        (p.code, p.price_cents, p.monthly_credits, p.requests_per_minute) for p in plans.values()
    ] == [
        ("free", 0, 100, 60),
        ("starter", 1_500, 5_000, 300),
        ("growth", 9_900, 50_000, 1_200),
        ("scale", 59_000, 500_000, 6_000),
    ]
    assert [(p.credits, p.price_cents, p.requests_per_minute) for p in Pack.objects.all()] == [
        (1_000, 500, 300),
        (10_000, 3_500, 600),
        (100_000, 22_500, 1_200),
        (1_000_000, 120_000, 6_000),
    ]


@pytest.mark.both
def test_free_is_topped_up_to_its_credits_each_month(shop: Account) -> None:
    use_credits(shop, 70)
    renew_plans("2026-12-20")
    assert plan_and_balance(shop) == ("free", 30)
    renew_plans("2026-12-21")
    assert plan_and_balance(shop) == ("free", 100)
    use_credits(shop, 10)
    renew_plans("2026-12-22")
    assert plan_and_balance(shop) == ("free", 90)


def test_balance_above_the_free_credits_is_not_topped_up(shop: Account) -> None:
    grant(account=shop, amount=1_000, reason="Gift", actor=None)
    renew_plans("2026-12-21")
    assert plan_and_balance(shop) == ("free", 1_100)
    assert topped_up_until(shop) == "2027-01-21"


def test_clock_that_was_months_ahead_tops_up_once_and_skips_no_top_up(shop: Account) -> None:
    use_credits(shop, 100)
    renew_plans("2027-04-02")
    assert (plan_and_balance(shop), topped_up_until(shop)) == (("free", 100), "2027-04-21")
    assert shop.ledger.count() == 2
    use_credits(shop, 100)
    # The sign-up credits were those of this month.
    renew_plans("2026-11-23")
    assert (plan_and_balance(shop), topped_up_until(shop)) == (("free", 0), "2026-12-21")
    renew_plans("2026-12-21")
    assert (plan_and_balance(shop), topped_up_until(shop)) == (("free", 100), "2027-01-21")
    assert not list(find_discrepancies())


def test_clock_that_was_months_ahead_grants_no_month_twice(shop: Account) -> None:
    use_credits(shop, 100)
    for day in ("2026-12-21", "2027-04-02"):
        renew_plans(day)
        use_credits(shop, 100)
    for day in ("2026-12-22", "2027-01-20"):
        renew_plans(day)
        assert plan_and_balance(shop) == ("free", 0)
    renew_plans("2027-01-21")
    use_credits(shop, 100)
    renew_plans("2027-03-21")
    # The credits of this month were granted while the clock was ahead.
    assert plan_and_balance(shop) == ("free", 0)
    renew_plans("2027-04-21")
    assert plan_and_balance(shop) == ("free", 100)


def test_debt_is_paid_from_the_top_up(shop: Account) -> None:
    with on("2026-12-01"):
        order = place_order(shop, Pack.objects.earliest("credits"))
        pay(order)
        use_credits(shop, 1_100)
        refunds.refund_order(order=order)
    assert balance_and_debt(shop) == (0, 1_000)
    renew_plans("2026-12-21")
    assert balance_and_debt(shop) == (0, 900)


@pytest.mark.both
def test_second_account_of_a_mailbox_gets_no_free_credits_until_it_buys(
    shop: Account, pack: Pack
) -> None:
    with on("2026-11-22"):
        second = open_account(user=get_buyer(shop), name="Second")
        run_email_confirmed_hooks(user=get_buyer(shop))
    renew_plans("2026-12-22")
    assert plan_and_balance(second) == ("free", 0)
    with on("2026-12-23"):
        pay(place_order(second, pack))
        use_credits(second, 1_000)
    renew_plans("2027-01-22")
    assert plan_and_balance(second) == ("free", 100)


def test_plan_begins_when_its_order_is_paid(shop: Account) -> None:
    with on("2026-11-23"):
        order = place_order(shop, "starter")
    assert (order.kind, order.credits, order.net_cents) == ("plan", 5_000, 1_500)
    assert plan_and_balance(shop) == ("free", 100)
    with on("2026-11-25"):
        pay(order)
    assert plan_and_balance(shop) == ("starter", 5_100)
    assert (covered_until(shop), get_rate_limit(shop)) == ("2026-12-25", 300)
    assert shop.ledger.latest("pk").source == f"plan:starter:{shop.public_id}:2026-11-25"
    assert Wallet.objects.get(account=shop).threshold == 500


@pytest.mark.both
def test_renewal_is_ordered_7_days_ahead_and_granted_when_paid(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-17")
    assert not shop.orders.pending().exists()
    renew_plans("2026-12-18")
    renewal = pending_order(shop)
    assert (renewal.kind, renewal.net_cents, renewal.credits) == ("renewal", 1_500, 5_000)
    assert (str(renewal.period_start), str(renewal.period_end)) == ("2026-12-25", "2027-01-25")
    assert str(renewal.due_on) == "2027-01-01"
    assert renewal.buyer_name == "The Shop Ltd"
    assert count_emails("Your Starter plan renews on 25 Dec 2026") == 1
    with on("2026-12-20"):
        pay(renewal)
    assert plan_and_balance(shop) == ("starter", 10_100)
    assert covered_until(shop) == "2027-01-25"
    assert shop.ledger.latest("pk").source == f"plan:starter:{shop.public_id}:2026-12-25"
    renew_plans("2026-12-25")
    assert plan_and_balance(shop) == ("starter", 10_100)
    assert not shop.orders.pending().exists()


def test_renewal_paid_in_the_grace_period_covers_the_same_month(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    renew_plans("2026-12-31")
    assert plan_and_balance(shop) == ("starter", 5_100)
    with on("2026-12-31"):
        pay(pending_order(shop))
    assert (plan_and_balance(shop), covered_until(shop)) == (("starter", 10_100), "2027-01-25")


def test_plan_unpaid_for_7_days_becomes_free_and_keeps_the_credits(shop: Account) -> None:
    subscribe(shop, "starter")
    renew_plans("2026-12-18")
    renewal = pending_order(shop)
    renew_plans("2027-01-01")
    assert plan_and_balance(shop) == ("free", 5_100)
    assert get_rate_limit(shop) == 60
    renewal.refresh_from_db()
    assert renewal.state == OrderState.CANCELLED
    assert count_emails("Your Starter plan has ended") == 1
    with on("2027-01-05"):
        pay(renewal)
    assert (plan_and_balance(shop), covered_until(shop)) == (("starter", 10_100), "2027-02-05")
    assert not list(find_discrepancies())


def test_late_renewal_notice_leaves_a_week_to_pay(shop: Account) -> None:
    """The background worker did not run for weeks."""
    subscribe(shop, "starter")
    renew_plans("2027-02-03")
    renewal = pending_order(shop)
    assert (str(renewal.period_start), str(renewal.due_on)) == ("2027-01-25", "2027-02-10")
    assert plan_and_balance(shop)[0] == "starter"
    renew_plans("2027-02-09")
    assert plan_and_balance(shop)[0] == "starter"
    renew_plans("2027-02-10")
    assert plan_and_balance(shop)[0] == "free"


@pytest.mark.both
def test_upgrade_begins_immediately_and_costs_the_difference(shop: Account) -> None:
    subscribe(shop, "starter")
    with on("2026-12-05"):
        upgrade = place_order(shop, "growth")
        assert (upgrade.kind, upgrade.net_cents, upgrade.credits) == ("upgrade", 8_400, 45_000)
        pay(upgrade)
    assert plan_and_balance(shop) == ("growth", 50_100)
    assert (covered_until(shop), get_rate_limit(shop)) == ("2026-12-25", 1_200)
    renew_plans("2026-12-18")
    assert pending_order(shop).net_cents == 9_900


@pytest.mark.both
def test_lower_plan_begins_when_the_paid_month_ends(shop: Account) -> None:
    subscribe(shop, "growth")
    with on("2026-12-01"):
        schedule_lower_plan(shop, "starter")
    assert plan_and_balance(shop)[0] == "growth"
    renew_plans("2026-12-18")
    renewal = pending_order(shop)
    assert (renewal.plan, renewal.net_cents) == (plan("starter"), 1_500)
    with on("2026-12-19"):
        pay(renewal)
    assert plan_and_balance(shop) == ("growth", 55_100)
    renew_plans("2026-12-24")
    assert (plan_and_balance(shop)[0], get_rate_limit(shop)) == ("growth", 1_200)
    renew_plans("2026-12-25")
    assert (plan_and_balance(shop)[0], get_rate_limit(shop)) == ("starter", 300)
    assert covered_until(shop) == "2027-01-25"


def test_account_that_chose_free_is_not_renewed_and_is_topped_up(shop: Account) -> None:
    subscribe(shop, "starter")
    with on("2026-12-01"):
        use_credits(shop, 5_090)
        schedule_lower_plan(shop, "free")
    renew_plans("2026-12-20")
    assert not shop.orders.pending().exists()
    renew_plans("2026-12-25")
    assert (plan_and_balance(shop), topped_up_until(shop)) == (("free", 100), "2027-01-25")


def test_scheduled_lower_plan_can_be_undone(shop: Account) -> None:
    subscribe(shop, "growth")
    renew_plans("2026-12-18")
    with on("2026-12-19"):
        schedule_lower_plan(shop, "free")
        assert not shop.orders.pending().exists()
        schedule_lower_plan(shop, "growth")
        with pytest.raises(Refused, match="Scale costs more than Growth"):
            schedule_lower_plan(shop, "scale")
    renew_plans("2026-12-20")
    assert pending_order(shop).plan == plan("growth")
    renew_plans("2026-12-25")
    assert plan_and_balance(shop)[0] == "growth"


def test_second_order_of_a_plan_cancels_the_first_and_both_paid_are_two_months(
    shop: Account,
) -> None:
    with on("2026-11-25"):
        first = place_order(shop, "starter")
        place_order(shop, "growth")
        second = place_order(shop, "starter")
        first.refresh_from_db()
        assert (first.state, pending_order(shop)) == (OrderState.CANCELLED, second)
        pay(second)
        pay(first)
    assert plan_and_balance(shop) == ("starter", 10_100)
    assert covered_until(shop) == "2027-01-25"


@pytest.mark.both
def test_paid_packs_raise_the_rate_limit_until_refunded_unless_staff_set_it(shop: Account) -> None:
    with on("2026-11-25"):
        largest = Pack.objects.get(credits=100_000)
        order = place_order(shop, largest)
        assert get_rate_limit(shop) == 60
        pay(order)
        assert get_rate_limit(shop) == 1_200
        pay(place_order(shop, "starter"))
        assert get_rate_limit(shop) == 1_200
        refunds.refund_order(order=order)
        assert get_rate_limit(shop) == 300
        Account.objects.filter(pk=shop.pk).update(requests_per_minute_override=7)
        assert get_rate_limit(shop) == 7


@pytest.mark.both
def test_changed_plan_updates_the_limits_of_its_accounts(shop: Account) -> None:
    subscribe(shop, "starter")
    Plan.objects.filter(code="starter").update(requests_per_minute=450, monthly_credits=9_000)
    assert changes.apply_plan_changes(Plan.objects.get(code="starter")) == 1
    assert (get_rate_limit(shop), Wallet.objects.get(account=shop).threshold) == (450, 900)


def test_staff_change_a_plan_immediately_and_without_credits(shop: Account, staff: User) -> None:
    with on("2026-12-01"):
        changes.assign_plan(account=shop, plan=plan("scale"), reason="Pilot", actor=staff)
        with pytest.raises(Refused, match="is already on Scale"):
            changes.assign_plan(account=shop, plan=plan("scale"), reason="Pilot", actor=staff)
    assert (plan_and_balance(shop), get_rate_limit(shop)) == (("scale", 100), 6_000)
    entry = shop.audit_entries.get(action="plan.given_by_staff")
    assert (entry.actor, entry.target) == (staff, "Free → Scale: Pilot")
    renew_plans("2026-12-25")
    assert pending_order(shop).net_cents == 59_000
