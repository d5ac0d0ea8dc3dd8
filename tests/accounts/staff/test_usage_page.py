"""The read-only usage page of an account. Every view leaves an audit entry."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey, RefusalHour
from credits.models import Pack
from credits.wallet.charges import Charge, charge_account, record_usage
from tests.accounts.staff.staff_pages import (
    client_in_group,
    panel_text,
    remove_group_permission,
    visible_text,
)
from tests.conftest import make_user, signed_in
from tests.credits.customers import place_order
from tests.support.frozen_minute import freeze_time_but_not_processes
from validation.models import LogEntry

__all__ = ["freeze_time_but_not_processes"]

pytestmark = pytest.mark.django_db

VIEWED = "account.looked_at_by_staff"


@pytest.fixture
def busy(account: Account, key: ApiKey) -> Account:
    charge_account(Charge(account=account, key=key, verdict="deliverable", cost=3, duration_ms=20))
    charge_account(Charge(account=account, key=None, verdict="risky", cost=1, duration_ms=20))
    record_usage(
        [
            Charge(account, key, "risky", 2, None, validations=2, for_list=True),
            Charge(account, None, "unknown", 0, None, validations=3, for_list=True),
        ]
    )
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    RefusalHour.objects.add(
        account_id=account.pk, key_id=key.pk, hour=hour, code="rate_limit_exceeded", calls=1234
    )
    for number in range(22):
        LogEntry.objects.create(
            account=account,
            key=key,
            at=timezone.now() - timedelta(seconds=number),
            request_id=f"req_number-{number:02}",
            status=200,
            verdict="deliverable",
            reason="accepts_mail",
            address="j***@example.com",
            path="/v1/validate",
            cost=1,
            duration_ms=14,
        )
    place_order(account, Pack.objects.earliest("credits"))
    return account


def usage_url(account: Account) -> str:
    return f"/admin/usage/{account.public_id}/"


def view_usage(client: Client, account: Account) -> str:
    response = client.get(usage_url(account))
    assert response.status_code == 200
    return response.content.decode()


def test_usage_page_shows_balance_use_keys_refusals_orders_and_requests(
    busy: Account, key: ApiKey
) -> None:
    page = view_usage(client_in_group("Support"), busy)
    account = panel_text(page, "Balance and plan")
    assert "Balance 96" in account
    assert "Plan Free" in account
    assert "Requests per minute 60" in account
    use = panel_text(page, "Usage by day")
    today = f"{timezone.now():%-d %b %Y}"
    for source, numbers in (("API", "1 3 1 0 0 0"), ("Playground", "1 1 0 1 0 0")):
        assert f"{today} {source} {numbers}" in use
    assert f"{today} Lists 5 2 0 2 0 3" in use
    keys = panel_text(page, "Usage by API key")
    assert f"{key} API 1 3 1 0 0 0" in keys
    assert f"{key} Lists 2 2 0 2 0 0" in keys
    assert "– Playground 1 1 0 1 0 0" in keys
    assert "– Lists 3 0 0 0 0 3" in keys
    assert "rate_limit_exceeded 429 1,234" in panel_text(page, "Refused requests")
    assert "Sign-up credits +100 system" in panel_text(page, "Latest ledger entries")
    assert "INV-000001" in panel_text(page, "Latest orders")
    # The newest twenty.
    requests = panel_text(page, "Latest requests")
    assert requests.index("req_number-00") < requests.index("req_number-19")
    assert "req_number-20" not in requests
    assert "The Shop's server 200 deliverable, accepts_mail j***@example.com 1 14" in requests


def test_page_of_another_account_shows_nothing_of_a_busy_one(busy: Account, stranger: User) -> None:
    quiet = Account.objects.get(memberships__user=stranger)
    text = visible_text(view_usage(client_in_group("Support"), quiet))
    assert "No usage in the last 30 days." in text
    assert "No requests were refused in the last 30 days." in text
    assert "The request log has no requests of this account." in text
    assert "req_number" not in text


@pytest.mark.anywhere
def test_usage_page_is_read_only_and_every_link_works(busy: Account) -> None:
    client = client_in_group("Support")
    page = view_usage(client, busy)
    assert set(re.findall(r'<form[^>]+action="([^"]+)"', page)) == {
        *("/admin/search/", "/accounts/logout/")
    }
    assert client.post(usage_url(busy)).status_code == 405
    content = page.partition("<main")[2].partition("</main>")[0]
    links = set(re.findall(r'href="(/[^"]+)"', content))
    assert len(links) > 10
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code == 200, link


@pytest.mark.anywhere
def test_viewing_usage_does_not_switch_the_account(
    staff: User, stranger: User, busy: Account
) -> None:
    stranger.is_staff = stranger.is_superuser = True
    stranger.save()
    client = signed_in(stranger)
    before = dict(client.session)
    view_usage(client, busy)
    assert dict(client.session) == before
    assert "Elsewhere" in client.get("/credits/").content.decode()


def test_view_is_recorded_once_per_hour_and_staff_user(busy: Account) -> None:
    support, finance = client_in_group("Support"), client_in_group("Finance")
    for client in (support, support, finance):
        view_usage(client, busy)
    entries = busy.audit_entries.filter(action=VIEWED).order_by("pk")
    names = ["support@service.example", "finance@service.example"]
    assert list(entries.values_list("actor_name", flat=True)) == names
    assert entries[0].ip == "127.0.0.1"
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        view_usage(support, busy)
    assert entries.count() == 3


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("missing", "hidden"),
    [
        ("view_order", "Latest orders"),
        ("view_ledgerentry", "Latest ledger entries"),
        ("view_wallet", "Balance and plan"),
        ("view_useday", "Usage by day"),
        ("view_logentry", "Latest requests"),
        ("view_refusalhour", "Refused requests"),
    ],
)
def test_usage_panel_is_hidden_without_its_permission(
    busy: Account, missing: str, hidden: str
) -> None:
    client = client_in_group("Support")
    assert hidden in view_usage(client, busy)
    remove_group_permission("Support", missing)
    assert hidden not in view_usage(client, busy)


@pytest.mark.anywhere
def test_view_without_permission_or_of_an_unknown_account_is_refused_and_not_recorded(
    busy: Account, staff: User
) -> None:
    client = signed_in(make_user("new@service.example", is_staff=True))
    assert client.get(usage_url(busy)).status_code == 403
    assert signed_in(staff).get("/admin/usage/acc_nothing/").status_code == 404
    assert not busy.audit_entries.filter(action=VIEWED).exists()
