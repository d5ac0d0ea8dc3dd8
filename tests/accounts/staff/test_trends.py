"""The numbers at the top of the admin's front page: 30 days, and the 30 before."""

from datetime import datetime, timedelta

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import RefusalHour
from credits.models import Pack, UseDay
from credits.orders.fulfillment import fulfill_order
from credits.orders.refunds import refund_order
from tests.accounts.staff.staff_pages import (
    client_in_group,
    front_page,
    remove_group_permission,
    travel_to,
    visible_text,
)
from tests.conftest import signed_in
from tests.credits.customers import place_order, use_credits
from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["freeze_time_but_not_processes"]

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

NOW = datetime.fromisoformat("2026-11-20T09:00:00+00:00")


def trends(client: Client) -> str:
    return visible_text(front_page(client).partition("Last 30 days")[2].partition("Dashed")[0])


def test_sums_of_30_days_are_compared_with_the_30_before(staff: User, account: Account) -> None:
    with travel_to(NOW):
        for days_ago, calls in ((3, 30), (29, 3), (31, 20), (59, 2), (60, 1000)):
            for verdict in ("deliverable", "unknown"):
                day = NOW.date() - timedelta(days=days_ago)
                UseDay.objects.create(account=account, day=day, verdict=verdict, calls=calls)
        use_credits(account, 1)
        hour = NOW - timedelta(hours=1)
        RefusalHour.objects.add(
            account_id=account.pk, key_id=None, hour=hour, code="invalid_json", calls=1_200
        )
        text = trends(signed_in(staff))
    # The first number includes today, the percentage doesn't.
    assert "Validations 67 +50% vs previous 30 days" in text
    assert "Unknown verdicts 33 +50% vs previous 30 days" in text
    assert "Refused requests 1,200 None in the 30 days before" in text


def test_revenue_is_less_refunds(staff: User, account: Account) -> None:
    pack = Pack.objects.earliest("credits")
    with travel_to(NOW - timedelta(days=40)):
        fulfill_order(order=place_order(account, pack))
    with travel_to(NOW - timedelta(days=2)):
        for _ in range(3):
            fulfill_order(order=(order := place_order(account, pack)))
        refund_order(order=order, cents=100)
    with travel_to(NOW):
        text = trends(signed_in(staff))
    assert "Revenue less refunds $14.00 +180% vs previous 30 days" in text


def test_new_accounts_are_counted_by_day(staff: User, account: Account, stranger: User) -> None:
    Account.objects.update(created_at=timezone.now() - timedelta(days=45))
    Account.objects.filter(pk=account.pk).update(created_at=timezone.now() - timedelta(days=1))
    assert "New accounts 1 " in trends(signed_in(staff))


@pytest.mark.parametrize(
    ("missing", "hidden"),
    [
        ("view_order", "Revenue less refunds"),
        ("view_useday", "Unknown verdicts"),
        ("view_refusalhour", "Refused requests"),
        ("view_account", "New accounts"),
    ],
)
def test_trend_is_hidden_without_its_permission(missing: str, hidden: str) -> None:
    client = client_in_group("Support")
    assert hidden in trends(client)
    remove_group_permission("Support", missing)
    assert hidden not in trends(client)


def test_every_table_of_the_admin_is_in_one_group() -> None:
    grouped = [apps.get_model(name) for names in settings.STAFF_TABLES.values() for name in names]
    assert len(grouped) == len({*grouped})
    assert {*grouped} == {*admin.site._registry}
