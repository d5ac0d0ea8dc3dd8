"""The admin's front page: its panels, and the numbers of 30 days with the 30 before."""

from datetime import datetime, timedelta

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account, User
from accounts.services import close_account
from apikeys.models import RefusalHour
from credits.models import Pack, UseDay
from credits.orders.fulfillment import fulfill_order
from credits.orders.refunds import refund_order
from credits.services import grant
from credits.wallet.charges import Charge, charge_account
from credits.wallet.totals import roll_up_days
from runtime.mail import outbox
from runtime.models import Mail
from tests.accounts.staff.staff_pages import (
    client_in_group,
    front_page,
    panel_text,
    shows_panel,
    travel_to,
    visible_text,
    without_permission,
)
from tests.conftest import signed_in
from tests.credits.customers import place_order, sign_up, use_credits

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SHORT_OF_CREDITS = "Low balances"
REFUSED = "Refused requests"
UNPAID = "Unpaid orders"
GRANTS = "Grants to confirm"
PLANS = "Paid plans"
DAILY_JOBS = "Daily jobs"
EMAILS = "Emails given up"
WEBHOOKS, LISTS, FEEDBACK = "Failing webhooks", "Stuck lists", "Feedback"
INCIDENTS = "Open incidents"
TITLES = [
    *(SHORT_OF_CREDITS, REFUSED, UNPAID, GRANTS, PLANS, DAILY_JOBS, EMAILS),
    *(WEBHOOKS, LISTS, FEEDBACK, INCIDENTS),
]


@pytest.fixture
def other(stranger: User) -> Account:
    return Account.objects.get(memberships__user=stranger)


def refuse(account: Account, code: str, calls: int, *, hours_ago: int = 1) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours_ago)
    RefusalHour.objects.create(
        account_id=account.pk, key_id=None, hour=hour, code=code, calls=calls
    )


def test_accounts_short_of_credits_are_listed_with_the_shortest_first(
    staff_client: Client, account: Account, other: Account
) -> None:
    use_credits(account, 95)
    use_credits(other, 100)
    text = panel_text(front_page(staff_client), SHORT_OF_CREDITS)
    assert "Elsewhere 0 less than a day 100 Free The Shop 5 less than a day 95 Free" in text


@pytest.mark.both
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


@pytest.mark.both
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
    close_account(account=other, actor=stranger)
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


@pytest.mark.both
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
    staff_client: Client, account: Account, other: Account, pack: Pack
) -> None:
    with travel_to(timezone.now() - timedelta(days=60)):
        overdue = place_order(account, pack)
    new = place_order(other, pack)
    text = panel_text(front_page(staff_client), UNPAID)
    assert text.index(overdue.number) < text.index(new.number)
    assert f"{overdue.due_on:%-d %b %Y}, overdue" in text
    assert f"Elsewhere {new.due_on:%-d %b %Y} $5.00" in text


def test_accounts_on_paid_plans_are_counted_by_plan(staff_client: Client, account: Account) -> None:
    fulfill_order(order=place_order(account, "growth"))
    text = panel_text(front_page(staff_client), PLANS)
    assert "Accounts 1" in text
    assert "Growth 1 $99.00" in text


@pytest.mark.parametrize(("group", "hidden"), [("Support", []), ("Finance", [FEEDBACK])])
def test_only_finance_sees_no_feedback_panel(group: str, hidden: list[str]) -> None:
    page = front_page(client_in_group(group))
    assert [title for title in TITLES if not shows_panel(page, title)] == hidden


def test_panel_or_trend_is_hidden_without_its_permission() -> None:
    client = client_in_group("Support")
    for missing, hidden in {
        "view_order": {UNPAID, "Revenue less refunds"},
        "view_subscription": {PLANS, SHORT_OF_CREDITS},
        "view_wallet": {SHORT_OF_CREDITS},
        "view_refusalhour": {REFUSED},
        "view_useday": {"Unknown verdicts"},
        "view_account": {
            *(SHORT_OF_CREDITS, REFUSED, UNPAID, GRANTS, WEBHOOKS, LISTS, FEEDBACK, "New accounts")
        },
        "view_staffgrant": {GRANTS},
        "view_lease": {DAILY_JOBS},
        "view_mail": {EMAILS},
        "view_addresslist": {LISTS},
        "view_feedback": {FEEDBACK},
        "view_incident": {INCIDENTS},
    }.items():
        with without_permission("Support", missing):
            page = front_page(client)
        shown = {title for title in TITLES if shows_panel(page, title)}
        shown |= {name for name in TRENDS if name in trends(page)}
        assert {*TITLES, *TRENDS} - shown == hidden, missing
        assert (REFUSED in trends(page)) is (missing != "view_refusalhour")


def test_front_page_runs_at_most_25_queries(account: Account, pack: Pack) -> None:
    for shop in (account, *(sign_up(f"owner@shop-{number}.example") for number in range(15))):
        use_credits(shop, 99)
        refuse(shop, "rate_limit_exceeded", 5)
        place_order(shop, pack)
        mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
        Mail.objects.filter(pk=mail.pk).update(given_up_at=timezone.now())
    client = client_in_group("Support")
    with CaptureQueriesContext(connection) as queries:
        front_page(client)
    assert len(queries) <= 25, "\n".join(query["sql"] for query in queries)


# Refused requests have a panel of this name, too.
TRENDS = ["Revenue less refunds", "Unknown verdicts", "New accounts"]
NOW = datetime.fromisoformat("2026-11-20T09:00:00+00:00")


def trends(page: str) -> str:
    return visible_text(page.partition("Last 30 days")[2].partition("Dashed")[0])


@pytest.mark.both
def test_sums_of_30_days_are_compared_with_the_30_before(staff: User, account: Account) -> None:
    with travel_to(NOW):
        for days_ago, calls in ((3, 30), (29, 3), (31, 20), (59, 2), (60, 1000)):
            for verdict in ("deliverable", "unknown"):
                day = NOW.date() - timedelta(days=days_ago)
                UseDay.objects.create(account=account, day=day, verdict=verdict, calls=calls)
        use_credits(account, 1)
        hour = NOW - timedelta(hours=1)
        RefusalHour.objects.create(
            account_id=account.pk, key_id=None, hour=hour, code="invalid_json", calls=1_200
        )
        text = trends(front_page(signed_in(staff)))
    # The first number includes today, the percentage doesn't.
    assert "Validations 67 +50% vs previous 30 days" in text
    assert "Unknown verdicts 33 +50% vs previous 30 days" in text
    assert "Refused requests 1,200 None in the 30 days before" in text


@pytest.mark.both
def test_revenue_is_less_refunds(staff: User, account: Account, pack: Pack) -> None:
    with travel_to(NOW - timedelta(days=40)):
        fulfill_order(order=place_order(account, pack))
    with travel_to(NOW - timedelta(days=2)):
        for _ in range(3):
            fulfill_order(order=(order := place_order(account, pack)))
        refund_order(order=order, cents=100)
    with travel_to(NOW):
        text = trends(front_page(signed_in(staff)))
    assert "Revenue less refunds $14.00 +180% vs previous 30 days" in text


def test_new_accounts_are_counted_by_day(staff: User, account: Account, stranger: User) -> None:
    Account.objects.update(created_at=timezone.now() - timedelta(days=45))
    Account.objects.filter(pk=account.pk).update(created_at=timezone.now() - timedelta(days=1))
    assert "New accounts 1 " in trends(front_page(signed_in(staff)))


def test_every_table_of_the_admin_is_in_one_group() -> None:
    grouped = [apps.get_model(name) for names in settings.STAFF_TABLES.values() for name in names]
    assert len(grouped) == len({*grouped})
    assert {*grouped} == {*admin.site._registry}
