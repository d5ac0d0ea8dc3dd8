"""Plans over the months: granted when paid, renewed, changed, ended; nothing twice."""

import pytest

from accounts.models import Account, User
from accounts.services import close_account, note_confirmed, open_account
from credits.models import Order, Pack, Plan, Wallet
from credits.orders import refunds
from credits.plans import subscriptions as module
from credits.plans.offers import OrderRefused
from credits.services import grant
from credits.wallet.books import differences
from runtime.jobs.daily import run_daily
from runtime.models import Mail
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
from tests.credits.days import covered_until, day_of_work, on, state_of, topped_up_until

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(db: None) -> Account:
    """Signed up on 21 November, on Free."""
    with on("2026-11-21"):
        user = make_user("buyer@shop.example")
        account = open_account(user=user, name="The Shop")
        note_confirmed(user=user)
    return account


def wallet_of(shop: Account) -> tuple[int, int]:
    wallet = Wallet.objects.get(account=shop)
    return wallet.balance, wallet.debt


def mails(subject: str) -> int:
    return Mail.objects.filter(subject__contains=subject).count()


def test_plans_and_packs_are_those_of_the_price_list(plans: dict[str, Plan]) -> None:
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


def test_a_new_account_has_the_first_month_of_free(shop: Account) -> None:
    assert state_of(shop) == ("free", 100)
    assert topped_up_until(shop) == "2026-12-21"
    assert shop.ledger.get().kind == "signup"


def test_free_is_topped_up_to_its_credits_each_month(shop: Account) -> None:
    use(shop, 70)
    day_of_work("2026-12-20")
    assert state_of(shop) == ("free", 30)
    day_of_work("2026-12-21")
    assert state_of(shop) == ("free", 100)
    use(shop, 10)
    day_of_work("2026-12-22")
    assert state_of(shop) == ("free", 90)


def test_who_has_more_than_the_free_credits_is_given_none(shop: Account) -> None:
    grant(account=shop, amount=1_000, reason="Gift", actor=None)
    day_of_work("2026-12-21")
    assert state_of(shop) == ("free", 1_100)
    assert topped_up_until(shop) == "2027-01-21"


def test_months_without_a_days_work_are_topped_up_once(shop: Account) -> None:
    use(shop, 100)
    day_of_work("2027-04-02")
    assert state_of(shop) == ("free", 100)
    assert topped_up_until(shop) == "2027-04-21"
    assert shop.ledger.count() == 2


def test_a_clock_that_was_months_ahead_takes_no_month_from_anybody(shop: Account) -> None:
    use(shop, 100)
    day_of_work("2027-04-02")
    use(shop, 100)
    # The opening credits were those of this month.
    day_of_work("2026-11-23")
    assert (state_of(shop), topped_up_until(shop)) == (("free", 0), "2026-12-21")
    day_of_work("2026-12-21")
    assert (state_of(shop), topped_up_until(shop)) == (("free", 100), "2027-01-21")
    assert not list(differences())


def test_a_clock_that_was_months_ahead_grants_no_month_twice(shop: Account) -> None:
    use(shop, 100)
    for day in ("2026-12-21", "2027-04-02"):
        day_of_work(day)
        use(shop, 100)
    for day in ("2026-12-22", "2027-01-20"):
        day_of_work(day)
        assert state_of(shop) == ("free", 0)
    day_of_work("2027-01-21")
    use(shop, 100)
    day_of_work("2027-03-21")
    # This month's were granted while the clock was ahead.
    assert state_of(shop) == ("free", 0)
    day_of_work("2027-04-21")
    assert state_of(shop) == ("free", 100)


def test_a_debt_is_paid_from_the_top_up(shop: Account) -> None:
    with on("2026-12-01"):
        placed = order(shop, Pack.objects.earliest("credits"))
        pay(placed)
        use(shop, 1_100)
        refunds.refund_order(order=placed)
    assert wallet_of(shop) == (0, 1_000)
    day_of_work("2026-12-21")
    assert wallet_of(shop) == (0, 900)


def test_a_second_account_of_a_mailbox_gets_no_free_credits_until_it_buys(
    shop: Account, pack: Pack
) -> None:
    with on("2026-11-22"):
        second = open_account(user=buyer_of(shop), name="Second")
        note_confirmed(user=buyer_of(shop))
    day_of_work("2026-12-22")
    assert state_of(second) == ("free", 0)
    with on("2026-12-23"):
        pay(order(second, pack))
        use(second, 1_000)
    day_of_work("2027-01-22")
    assert state_of(second) == ("free", 100)


def test_a_plan_begins_when_its_order_is_paid(shop: Account) -> None:
    with on("2026-11-23"):
        placed = order(shop, "starter")
    assert (placed.kind, placed.credits, placed.net_cents) == ("plan", 5_000, 1_500)
    assert state_of(shop) == ("free", 100)
    with on("2026-11-25"):
        pay(placed)
    assert state_of(shop) == ("starter", 5_100)
    assert (covered_until(shop), limit_of(shop)) == ("2026-12-25", 300)
    assert shop.ledger.latest("pk").source == f"plan:starter:{shop.public_id}:2026-11-25"
    assert Wallet.objects.get(account=shop).threshold == 500


def test_no_day_alone_grants_a_paid_plan(shop: Account) -> None:
    subscribe(shop, "starter")
    for day in ("2026-12-18", "2026-12-25", "2026-12-31"):
        day_of_work(day)
    assert state_of(shop) == ("starter", 5_100)


def test_a_renewal_is_ordered_7_days_before_and_granted_when_paid(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-17")
    assert not shop.orders.pending().exists()
    day_of_work("2026-12-18")
    renewal = waiting(shop)
    assert (renewal.kind, renewal.net_cents, renewal.credits) == ("renewal", 1_500, 5_000)
    assert (str(renewal.period_start), str(renewal.period_end)) == ("2026-12-25", "2027-01-25")
    assert str(renewal.due_on) == "2027-01-01"
    assert renewal.buyer_name == "The Shop Ltd"
    assert mails("Your plan Starter renews on 25 Dec 2026") == 1
    with on("2026-12-20"):
        pay(renewal)
    assert state_of(shop) == ("starter", 10_100)
    assert covered_until(shop) == "2027-01-25"
    assert shop.ledger.latest("pk").source == f"plan:starter:{shop.public_id}:2026-12-25"
    day_of_work("2026-12-25")
    assert state_of(shop) == ("starter", 10_100)
    assert not shop.orders.pending().exists()


def test_a_renewal_paid_in_its_days_of_grace_covers_the_same_month(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    day_of_work("2026-12-31")
    assert state_of(shop) == ("starter", 5_100)
    with on("2026-12-31"):
        pay(waiting(shop))
    assert (state_of(shop), covered_until(shop)) == (("starter", 10_100), "2027-01-25")


def test_unpaid_for_7_days_the_plan_becomes_free_and_the_credits_stay(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    renewal = waiting(shop)
    day_of_work("2027-01-01")
    assert state_of(shop) == ("free", 5_100)
    assert limit_of(shop) == 60
    renewal.refresh_from_db()
    assert renewal.state == Order.State.CANCELLED
    assert mails("Your plan Starter has ended") == 1
    with on("2027-01-05"):
        pay(renewal)
    assert (state_of(shop), covered_until(shop)) == (("starter", 10_100), "2027-02-05")
    assert not list(differences())


def test_a_plan_that_was_never_told_of_its_renewal_has_a_week_to_pay(shop: Account) -> None:
    """The background worker was away for weeks."""
    subscribe(shop, "starter")
    day_of_work("2027-02-03")
    renewal = waiting(shop)
    assert (str(renewal.period_start), str(renewal.due_on)) == ("2027-01-25", "2027-02-10")
    assert state_of(shop)[0] == "starter"
    day_of_work("2027-02-09")
    assert state_of(shop)[0] == "starter"
    day_of_work("2027-02-10")
    assert state_of(shop)[0] == "free"


def test_an_upgrade_begins_at_once_for_the_difference(shop: Account) -> None:
    subscribe(shop, "starter")
    with on("2026-12-05"):
        upgrade = order(shop, "growth")
        assert (upgrade.kind, upgrade.net_cents, upgrade.credits) == ("upgrade", 8_400, 45_000)
        pay(upgrade)
    assert state_of(shop) == ("growth", 50_100)
    assert (covered_until(shop), limit_of(shop)) == ("2026-12-25", 1_200)
    day_of_work("2026-12-18")
    assert waiting(shop).net_cents == 9_900


def test_an_upgrade_withdraws_the_renewal_of_the_old_plan(shop: Account) -> None:
    subscribe(shop, "starter")
    day_of_work("2026-12-18")
    old = waiting(shop)
    with on("2026-12-19"):
        pay(order(shop, "growth"))
    old.refresh_from_db()
    assert old.state == Order.State.CANCELLED
    day_of_work("2026-12-20")
    assert (waiting(shop).plan, waiting(shop).net_cents) == (plan("growth"), 9_900)


def test_a_lower_plan_begins_when_the_paid_month_ends(shop: Account) -> None:
    subscribe(shop, "growth")
    with on("2026-12-01"):
        choose_lower(shop, "starter")
    assert state_of(shop)[0] == "growth"
    day_of_work("2026-12-18")
    renewal = waiting(shop)
    assert (renewal.plan, renewal.net_cents) == (plan("starter"), 1_500)
    with on("2026-12-19"):
        pay(renewal)
    assert state_of(shop) == ("growth", 55_100)
    day_of_work("2026-12-24")
    assert (state_of(shop)[0], limit_of(shop)) == ("growth", 1_200)
    day_of_work("2026-12-25")
    assert (state_of(shop)[0], limit_of(shop)) == ("starter", 300)
    assert covered_until(shop) == "2027-01-25"


def test_who_chose_free_is_asked_for_no_money_and_topped_up(shop: Account) -> None:
    subscribe(shop, "starter")
    with on("2026-12-01"):
        use(shop, 5_090)
        choose_lower(shop, "free")
    day_of_work("2026-12-20")
    assert not shop.orders.pending().exists()
    day_of_work("2026-12-25")
    assert (state_of(shop), topped_up_until(shop)) == (("free", 100), "2027-01-25")


def test_a_lower_plan_can_be_taken_back(shop: Account) -> None:
    subscribe(shop, "growth")
    day_of_work("2026-12-18")
    with on("2026-12-19"):
        choose_lower(shop, "free")
        assert not shop.orders.pending().exists()
        choose_lower(shop, "growth")
    day_of_work("2026-12-20")
    assert waiting(shop).plan == plan("growth")
    day_of_work("2026-12-25")
    assert state_of(shop)[0] == "growth"


def test_a_higher_plan_is_no_lower_one(shop: Account) -> None:
    with pytest.raises(module.PlanRefused, match="not lower than your plan Free"):
        choose_lower(shop, "growth")


@pytest.mark.parametrize("code", ["free", "starter"])
def test_a_lower_plan_or_ones_own_is_not_sold(shop: Account, code: str) -> None:
    subscribe(shop, "starter")
    with on("2026-11-26"), pytest.raises(OrderRefused):
        order(shop, code)


def test_of_two_plans_ordered_only_the_last_waits(shop: Account) -> None:
    with on("2026-11-25"):
        first, second = order(shop, "starter"), order(shop, "growth")
        first.refresh_from_db()
        assert (first.state, waiting(shop)) == (Order.State.CANCELLED, second)


def test_two_invoices_of_one_plan_both_paid_are_two_months(shop: Account) -> None:
    with on("2026-11-25"):
        first = order(shop, "starter")
        order(shop, "growth")
        second = order(shop, "starter")
        pay(second)
        pay(first)
    assert state_of(shop) == ("starter", 10_100)
    assert covered_until(shop) == "2027-01-25"


def test_packs_raise_the_limit_as_long_as_they_are_paid(shop: Account) -> None:
    with on("2026-11-25"):
        largest = Pack.objects.get(credits=100_000)
        placed = order(shop, largest)
        assert limit_of(shop) == 60
        pay(placed)
        assert limit_of(shop) == 1_200
        pay(order(shop, "starter"))
        assert limit_of(shop) == 1_200
        refunds.refund_order(order=placed)
        assert limit_of(shop) == 300


def test_a_limit_set_by_staff_stands_above_all(shop: Account) -> None:
    Account.objects.filter(pk=shop.pk).update(requests_per_minute_override=7)
    subscribe(shop, "scale")
    assert limit_of(shop) == 7


def test_new_terms_of_a_plan_hold_for_who_has_it(shop: Account) -> None:
    subscribe(shop, "starter")
    Plan.objects.filter(code="starter").update(requests_per_minute=450, monthly_credits=9_000)
    assert module.apply_new_terms(Plan.objects.get(code="starter")) == 1
    assert (limit_of(shop), Wallet.objects.get(account=shop).threshold) == (450, 900)


def test_a_closed_account_is_neither_topped_up_nor_asked_for_money(shop: Account) -> None:
    subscribe(shop, "starter")
    with on("2026-12-01"):
        close_account(account=shop, actor=buyer_of(shop))
    day_of_work("2026-12-20")
    assert not shop.orders.pending().exists()
    assert state_of(shop) == ("starter", 5_100)


def test_staff_change_a_plan_at_once_without_credits(shop: Account, staff: User) -> None:
    with on("2026-12-01"):
        module.give_plan(
            account=shop, plan=plan("scale"), reason="Pilot", actor=staff, ip="198.51.100.9"
        )
    assert (state_of(shop), limit_of(shop)) == (("scale", 100), 6_000)
    entry = shop.audit_entries.get(action="plan.given_by_staff")
    assert (entry.actor, entry.target) == (staff, "Free → Scale: Pilot")
    day_of_work("2026-12-25")
    assert waiting(shop).net_cents == 59_000


def test_the_days_work_of_a_whole_year_keeps_the_books(shop: Account) -> None:
    subscribe(shop, "starter")
    for month in range(1, 13):
        with on(f"2027-{month:02}-20"):
            run_daily()
            pay(waiting(shop))
            use(shop, 4_000)
    assert shop.ledger.filter(kind="plan").count() == 13
    assert covered_until(shop) == "2027-12-25"
    assert not list(differences())
