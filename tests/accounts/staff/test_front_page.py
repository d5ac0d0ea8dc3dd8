"""The panels on the admin's front page: credits, refusals, orders, revenue, and background work."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account, User
from accounts.services import close_account, open_account, run_email_confirmed_hooks
from apikeys.models import ApiKey, RefusalHour
from credits.models import Pack
from credits.orders.fulfillment import fulfill_order
from credits.services import grant
from credits.wallet.charges import Charge, charge_account
from credits.wallet.totals import roll_up_days
from runtime.mail import outbox
from runtime.models import Mail
from tests.accounts.staff.staff_pages import (
    client_in_group,
    front_page,
    panel_text,
    remove_group_permission,
    shows_panel,
    travel_to,
)
from tests.conftest import make_user
from tests.credits.customers import place_order, use_credits
from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["freeze_time_but_not_processes"]

pytestmark = pytest.mark.django_db

SHORT_OF_CREDITS = "Low balances"
REFUSED = "Refused requests"
UNPAID = "Unpaid orders"
GRANTS = "Grants to confirm"
PLANS = "Paid plans"
DAILY_JOBS = "Daily jobs"
EMAILS = "Emails given up"
WEBHOOKS, LISTS, FEEDBACK = "Failing webhooks", "Stuck lists", "Feedback"
TITLES = [
    *(SHORT_OF_CREDITS, REFUSED, UNPAID, GRANTS, PLANS, DAILY_JOBS, EMAILS),
    *(WEBHOOKS, LISTS, FEEDBACK),
]


@pytest.fixture
def other(stranger: User) -> Account:
    return Account.objects.get(memberships__user=stranger)


def refuse(account: Account, code: str, calls: int, *, hours_ago: int = 1) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours_ago)
    RefusalHour.objects.add(account_id=account.pk, key_id=None, hour=hour, code=code, calls=calls)


def test_accounts_short_of_credits_are_listed_with_the_shortest_first(
    staff_client: Client, account: Account, other: Account
) -> None:
    use_credits(account, 95)
    use_credits(other, 100)
    text = panel_text(front_page(staff_client), SHORT_OF_CREDITS)
    assert "Elsewhere 0 less than a day 100 Free The Shop 5 less than a day 95 Free" in text


def test_account_with_less_than_a_week_of_credits_besides_its_lists_is_listed(
    staff_client: Client, account: Account
) -> None:
    charge_account(Charge(account, None, "risky", 60, None, validations=60, for_list=True))
    use_credits(account, 7)
    assert "The Shop" not in panel_text(front_page(staff_client), SHORT_OF_CREDITS)
    use_credits(account, 13)
    assert "The Shop" not in panel_text(front_page(staff_client), SHORT_OF_CREDITS)
    use_credits(account, 1)
    assert "The Shop 19 6 days 81 Free" in panel_text(front_page(staff_client), SHORT_OF_CREDITS)


def test_account_whose_lists_used_its_credits_is_listed(
    staff_client: Client, account: Account
) -> None:
    charge_account(Charge(account, None, "risky", 95, None, validations=95, for_list=True))
    assert "The Shop 5 – 95 Free" in panel_text(front_page(staff_client), SHORT_OF_CREDITS)


def test_rolled_up_days_count_toward_recent_usage(
    staff_client: Client, staff: User, account: Account
) -> None:
    with travel_to(timezone.now() - timedelta(days=3)):
        use_credits(account, 90)
    roll_up_days()
    use_credits(account, 3)
    assert "The Shop 7 less than a day 93 Free" in panel_text(
        front_page(staff_client), SHORT_OF_CREDITS
    )
    grant(account=account, amount=500, reason="More", actor=staff)
    assert "The Shop" not in panel_text(front_page(staff_client), SHORT_OF_CREDITS)


def test_idle_and_closed_accounts_with_an_empty_balance_are_not_listed(
    staff_client: Client, stranger: User, account: Account, other: Account
) -> None:
    with travel_to(timezone.now() - timedelta(days=9)):
        use_credits(account, 100)
    use_credits(other, 100)
    close_account(account=other, actor=stranger, ip=None)
    text = panel_text(front_page(staff_client), SHORT_OF_CREDITS)
    assert "The Shop" not in text
    assert "Elsewhere" not in text


def test_full_list_contains_the_same_accounts(
    staff_client: Client, account: Account, other: Account
) -> None:
    use_credits(other, 100)
    page = staff_client.get("/admin/credits/wallet/?dry=week&o=2").content.decode()
    assert "Elsewhere" in page
    assert "The Shop" not in page


def test_refusals_are_listed_per_account_and_kind(
    staff_client: Client, account: Account, other: Account
) -> None:
    refuse(account, "rate_limit_exceeded", 1200)
    refuse(account, "rate_limit_exceeded", 34, hours_ago=5)
    refuse(account, "rate_limit_exceeded", 9000, hours_ago=30)
    refuse(other, "insufficient_credits", 5000)
    refuse(other, "api_key_revoked", 7)
    refuse(other, "invalid_json", 2)
    text = panel_text(front_page(staff_client), REFUSED)
    assert "The Shop 1,234 0 0 0 60 Elsewhere 0 5,000 7 2 60" in text


def test_unpaid_orders_are_listed_oldest_first_and_marked_when_overdue(
    staff_client: Client, account: Account, owner: User, stranger: User, other: Account
) -> None:
    pack = Pack.objects.earliest("credits")
    with travel_to(timezone.now() - timedelta(days=60)):
        overdue = place_order(account, pack)
    new = place_order(other, pack)
    text = panel_text(front_page(staff_client), UNPAID)
    assert text.index(overdue.number) < text.index(new.number)
    assert f"{overdue.due_on:%-d %b %Y}, overdue" in text
    assert f"Elsewhere {new.due_on:%-d %b %Y} $5.00" in text


def test_accounts_on_paid_plans_are_counted_by_plan(
    staff_client: Client, account: Account, owner: User
) -> None:
    fulfill_order(order=place_order(account, "growth"))
    text = panel_text(front_page(staff_client), PLANS)
    assert "Accounts 1" in text
    assert "Growth 1 $99.00" in text


@pytest.mark.parametrize(("group", "hidden"), [("Support", []), ("Finance", [FEEDBACK])])
def test_only_finance_sees_no_feedback_panel(group: str, hidden: list[str]) -> None:
    page = front_page(client_in_group(group))
    assert [title for title in TITLES if not shows_panel(page, title)] == hidden


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("missing", "hidden"),
    [
        ("view_order", {UNPAID}),
        ("view_subscription", {PLANS, SHORT_OF_CREDITS}),
        ("view_wallet", {SHORT_OF_CREDITS}),
        ("view_refusalhour", {REFUSED}),
        (
            "view_account",
            {SHORT_OF_CREDITS, REFUSED, UNPAID, GRANTS, WEBHOOKS, LISTS, FEEDBACK},
        ),
        ("view_staffgrant", {GRANTS}),
        ("view_lease", {DAILY_JOBS}),
        ("view_mail", {EMAILS}),
        ("view_addresslist", {LISTS}),
        ("view_feedback", {FEEDBACK}),
    ],
)
def test_panel_is_hidden_without_its_permission(missing: str, hidden: set[str]) -> None:
    client = client_in_group("Support")
    remove_group_permission("Support", missing)
    page = front_page(client)
    assert {title for title in TITLES if not shows_panel(page, title)} == hidden


def test_front_page_runs_at_most_25_queries(owner: User, account: Account, key: ApiKey) -> None:
    pack = Pack.objects.earliest("credits")
    shops = [account]
    for number in range(15):
        user = make_user(f"owner@shop-{number}.example")
        open_account(user=user, name=f"Shop {number}")
        run_email_confirmed_hooks(user=user)
        shops.append(Account.objects.get(memberships__user=user))
    for shop in shops:
        use_credits(shop, 99)
        refuse(shop, "rate_limit_exceeded", 5)
        place_order(shop, pack)
        mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
        Mail.objects.filter(pk=mail.pk).update(given_up_at=timezone.now())
    client = client_in_group("Support")
    with CaptureQueriesContext(connection) as queries:
        front_page(client)
    assert len(queries) <= 25, "\n".join(query["sql"] for query in queries)
