"""The admin's front page answers: who runs dry, who is refused, who pays, is the work done."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import close_account, note_confirmed, open_account
from apikeys.models import ApiKey, RefusalHour
from credits.models import LedgerEntry, Order, Pack, Plan, UseDay, UseHour, Wallet
from credits.orders.lifecycle import Buyer, fulfil_order, start_order
from credits.orders.refunds import refund_order
from credits.services import grant
from credits.wallet.charges import Charge, charge
from credits.wallet.totals import sum_up_days
from runtime.mail import outbox
from runtime.models import Mail
from tests.accounts.staff.people import at, front, in_group, panel, take_from_group
from tests.conftest import make_user, signed_in
from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["freeze_time_but_not_processes"]

pytestmark = pytest.mark.django_db

DRY = "Who is running dry?"
REFUSED = "Who is being limited or refused?"
UNPAID = "Who has not paid yet?"
GRANTS = "Grants waiting for a second person"
PAYS = "Who pays?"
DAILY = "Did the daily work run?"
MAILS = "Do mails go out?"
QUESTIONS = [DRY, REFUSED, UNPAID, GRANTS, PAYS, DAILY, MAILS]


@pytest.fixture
def boss(staff: User) -> Client:
    return signed_in(staff)


@pytest.fixture
def other(stranger: User) -> Account:
    return Account.objects.get(memberships__user=stranger)


def use(account: Account, amount: int) -> None:
    charge(Charge(account=account, key=None, verdict="risky", cost=amount, duration_ms=1))


def order_of(account: Account, buyer: User, item: Pack | Plan) -> Order:
    return start_order(account=account, item=item, buyer=Buyer("The Shop Ltd"), actor=buyer)


def refuse(account: Account, code: str, calls: int, *, hours_ago: int = 1) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours_ago)
    RefusalHour.objects.add(account_id=account.pk, key_id=None, hour=hour, code=code, calls=calls)


def test_each_empty_panel_says_so_in_words(boss: Client) -> None:
    page = front(boss)
    assert "Nobody who used credits in the last 7 days is short of them." in page
    assert "Nobody was refused in the last 24 hours." in page
    assert "No order waits for payment." in page
    assert "No account is on a paid plan." in page
    assert "No mail was given up." in page


def test_who_runs_dry_is_listed_with_the_worst_first(
    boss: Client, account: Account, other: Account
) -> None:
    use(account, 95)
    use(other, 100)
    told = panel(front(boss), DRY)
    assert "Elsewhere 0 under a day 100 Free The Shop 5 under a day 95 Free" in told


def test_who_has_less_than_a_week_used_runs_dry(boss: Client, account: Account) -> None:
    use(account, 50)
    assert "The Shop" not in panel(front(boss), DRY)
    use(account, 1)
    assert "The Shop 49 6 days 51 Free" in panel(front(boss), DRY)


def test_days_that_are_summed_up_count_for_the_pace(
    boss: Client, staff: User, account: Account
) -> None:
    with at(timezone.now() - timedelta(days=3)):
        use(account, 90)
    sum_up_days()
    use(account, 3)
    assert "The Shop 7 under a day 93 Free" in panel(front(boss), DRY)
    grant(account=account, amount=500, reason="More", actor=staff)
    assert "The Shop" not in panel(front(boss), DRY)


def test_an_empty_balance_that_nobody_uses_is_nobody_running_dry(
    boss: Client, account: Account
) -> None:
    with at(timezone.now() - timedelta(days=9)):
        use(account, 100)
    assert "The Shop" not in panel(front(boss), DRY)


def test_a_closed_account_runs_dry_no_more(boss: Client, owner: User, account: Account) -> None:
    use(account, 100)
    close_account(account=account, actor=owner, ip=None)
    assert "The Shop" not in panel(front(boss), DRY)


def test_the_whole_list_holds_the_same(boss: Client, account: Account, other: Account) -> None:
    use(other, 100)
    page = boss.get("/admin/credits/wallet/?dry=week&o=2").content.decode()
    assert "Elsewhere" in page
    assert "The Shop" not in page


def test_who_is_limited_is_listed_with_every_kind_of_refusal(
    boss: Client, account: Account, other: Account
) -> None:
    refuse(account, "rate_limit_exceeded", 1200)
    refuse(account, "rate_limit_exceeded", 34, hours_ago=5)
    refuse(account, "rate_limit_exceeded", 9000, hours_ago=30)
    refuse(other, "insufficient_credits", 5000)
    refuse(other, "api_key_revoked", 7)
    refuse(other, "invalid_json", 2)
    told = panel(front(boss), REFUSED)
    assert "The Shop 1,234 0 0 0 60 Elsewhere 0 5,000 7 2 60" in told


def test_no_panel_has_more_than_ten_rows(boss: Client, account: Account) -> None:
    for number in range(12):
        user = make_user(f"owner@shop-{number}.example")
        open_account(user=user, name=f"Shop {number}")
        refuse(Account.objects.get(memberships__user=user), "invalid_json", number + 1)
    told = panel(front(boss), REFUSED)
    assert told.count("Shop ") == 10
    assert "Shop 11" in told
    assert "Shop 1 " not in told


def test_orders_wait_with_the_oldest_first_and_overdue_ones_say_so(
    boss: Client, account: Account, owner: User, stranger: User, other: Account
) -> None:
    pack = Pack.objects.earliest("credits")
    with at(timezone.now() - timedelta(days=60)):
        late = order_of(account, owner, pack)
    new = order_of(other, stranger, pack)
    told = panel(front(boss), UNPAID)
    assert told.index(late.number) < told.index(new.number)
    assert f"{late.due_on:%d %b %Y}, overdue" in told
    assert f"Elsewhere {new.due_on:%-d %b %Y} USD 5.00" in told


def test_money_of_this_month_and_the_last_is_told_by_currency(
    staff: User, account: Account, owner: User, settings: Settings
) -> None:
    with at(datetime.fromisoformat("2026-11-20T09:00:00+00:00")):
        plan, pack = Plan.objects.get(code="growth"), Pack.objects.earliest("credits")
        fulfil_order(order=order_of(account, owner, plan))
        settings.CURRENCY = "EUR"
        bought = order_of(account, owner, pack)
        fulfil_order(order=bought)
        refund_order(order=Order.objects.get(pk=bought.pk), reason="Asked for it")
        fulfil_order(order=(old := order_of(account, owner, pack)))
        Order.objects.filter(pk=old.pk).update(paid_at=timezone.now() - timedelta(days=30))
        settings.CURRENCY = "USD"
        told = panel(front(signed_in(staff)), PAYS)
    assert "On paid plans 1" in told
    assert "Paid in November EUR 5.00, USD 99.00" in told
    assert "Paid in October EUR 5.00" in told
    assert "Refunded in November EUR 5.00" in told
    assert "Refunded in October Nothing" in told
    assert "Growth 1 USD 99.00" in told


@pytest.mark.parametrize("group", ["Support", "Finance"])
def test_each_group_sees_every_question(group: str) -> None:
    page = front(in_group(group))
    assert [question for question in QUESTIONS if f">{question}</h2>" not in page] == []


@pytest.mark.parametrize(
    ("missing", "hidden"),
    [
        ("view_order", {UNPAID, PAYS}),
        ("view_wallet", {DRY}),
        ("view_refusalhour", {REFUSED}),
        ("view_account", {DRY, REFUSED, UNPAID, GRANTS}),
        ("view_staffgrant", {GRANTS}),
        ("view_lease", {DAILY}),
        ("view_mail", {MAILS}),
    ],
)
def test_without_the_permission_there_is_no_panel(missing: str, hidden: set[str]) -> None:
    client = in_group("Support")
    take_from_group("Support", missing)
    page = front(client)
    assert {question for question in QUESTIONS if f">{question}</h2>" not in page} == hidden


def test_the_page_asks_the_database_little_however_much_it_holds(
    owner: User, account: Account, key: ApiKey
) -> None:
    pack = Pack.objects.earliest("credits")
    shops = [account]
    for number in range(15):
        user = make_user(f"owner@shop-{number}.example")
        open_account(user=user, name=f"Shop {number}")
        note_confirmed(user=user)
        shops.append(Account.objects.get(memberships__user=user))
    for shop in shops:
        use(shop, 99)
        refuse(shop, "rate_limit_exceeded", 5)
        order_of(shop, owner, pack)
        mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
        Mail.objects.filter(pk=mail.pk).update(given_up_at=timezone.now())
    client = in_group("Support")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        front(client)
    assert len(asked) <= 15, "\n".join(query["sql"] for query in asked)


def test_looking_changes_nothing(boss: Client, account: Account) -> None:
    use(account, 100)
    before = [model.objects.count() for model in (LedgerEntry, Wallet, UseHour, UseDay)]
    front(boss)
    assert before == [model.objects.count() for model in (LedgerEntry, Wallet, UseHour, UseDay)]
