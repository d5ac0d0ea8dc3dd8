"""An account's page for staff, in tabs. Every view leaves an audit entry."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey, RefusalHour
from credits.models import Order
from credits.wallet.charges import Charge, charge_account, record_usage
from lists.models import AddressList
from tests.accounts.staff.staff_pages import (
    client_in_group,
    panel_text,
    visible_text,
    without_permission,
)
from tests.conftest import make_user, signed_in
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

VIEWED = "account.looked_at_by_staff"


@pytest.fixture
def busy(account: Account, key: ApiKey, order: Order) -> Account:
    charge_account(Charge(account=account, key=key, verdict="deliverable", cost=3, duration_ms=20))
    charge_account(Charge(account=account, key=None, verdict="risky", cost=1, duration_ms=20))
    record_usage(
        [
            Charge(account, key, "risky", 2, None, validations=2, for_list=True),
            Charge(account, None, "unknown", 0, None, validations=3, for_list=True),
        ]
    )
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    RefusalHour.objects.create(
        account_id=account.pk, key_id=key.pk, hour=hour, code="rate_limit_exceeded", calls=1234
    )
    fields: dict[str, Any] = {"status": 200, "path": "/v1/validate", "cost": 1, "duration_ms": 14}
    fields |= {"account": account, "key": key, "address": "j***@example.com"}
    fields |= {"verdict": "deliverable", "reason": "accepts_mail"}
    LogEntry.objects.bulk_create(
        LogEntry(
            request_id=f"req_number-{n:02}", at=timezone.now() - timedelta(seconds=n), **fields
        )
        for n in range(22)
    )
    return account


def account_url(account: Account, tab: str = "") -> str:
    return f"/admin/customers/{account.public_id}/" + (f"?tab={tab}" if tab else "")


def view_account(client: Client, account: Account, tab: str = "") -> str:
    response = client.get(account_url(account, tab))
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.both
def test_overview_shows_the_owner_usage_and_a_chart(busy: Account, key: ApiKey) -> None:
    page = view_account(client_in_group("Support"), busy)
    assert "Owner owner@shop.example" in panel_text(page, "About the account")
    usage = panel_text(page, "Usage")
    assert "Balance 96 credits" in usage
    assert "Plan Free" in usage
    assert "Refused in 7 days 1,234" in usage
    assert "Last 30 days: 7 validations" in usage
    keys = panel_text(page, "Usage by API key")
    assert f"{key} API 1 3 1 0 0 0" in keys
    assert f"{key} Lists 2 2 0 2 0 0" in keys
    assert "\N{EN DASH} Playground 1 1 0 1 0 0" in keys
    assert "\N{EN DASH} Lists 3 0 0 0 0 3" in keys


@pytest.mark.both
def test_tabs_show_requests_billing_keys_and_people(busy: Account, key: ApiKey) -> None:
    client = client_in_group("Support")
    page = view_account(client, busy, "requests")
    assert "rate_limit_exceeded 429 1,234" in panel_text(page, "Refused requests")
    # The newest twenty.
    requests = panel_text(page, "Latest requests")
    assert requests.index("req_number-00") < requests.index("req_number-19")
    assert "req_number-20" not in requests
    assert "The Shop's server 200 deliverable, accepts_mail j***@example.com 1 14" in requests
    page = view_account(client, busy, "billing")
    assert "Balance 96" in panel_text(page, "Balance and plan")
    assert "Sign-up credits +100 system" in panel_text(page, "Latest ledger entries")
    assert "INV-000001" in panel_text(page, "Latest orders")
    keys = panel_text(view_account(client, busy, "keys-and-webhooks"), "API keys")
    assert f"{key.name} {key.display} Active" in keys
    assert "owner@shop.example" in panel_text(view_account(client, busy, "team"), "Members")
    audit = panel_text(view_account(client, busy, "audit-log"), "Audit log")
    assert "support@service.example" in audit


def test_lists_tab_shows_states_and_counts(busy: Account) -> None:
    AddressList.objects.create(account=busy, name="secret.csv", addresses=1_200)
    page = view_account(client_in_group("Support"), busy, "lists")
    assert "1,200 0 0 0 0 0" in panel_text(page, "Latest lists")
    assert "secret.csv" not in page


def test_unknown_tab_is_the_first_one(account: Account) -> None:
    client = client_in_group("Support")
    for tab, shown in (("", "Overview"), ("x", "Overview"), ("team", "Team")):
        page = view_account(client, account, tab)
        assert re.findall(r'aria-current="page">([^<]+)</a>', page) == [shown]


def test_form_with_the_settings_is_one_of_the_tabs(busy: Account) -> None:
    client = client_in_group("Support")
    page = client.get(f"/admin/accounts/account/{busy.pk}/change/").content.decode()
    assert re.findall(r'aria-current="page">([^<]+)</a>', page) == ["Settings"]
    assert f'href="{account_url(busy, "billing")}"' in page
    assert f'href="/admin/accounts/account/{busy.pk}/change/"' in view_account(client, busy)


def test_page_of_another_account_shows_nothing_of_a_busy_one(busy: Account, stranger: User) -> None:
    quiet, client = Account.objects.get(memberships__user=stranger), client_in_group("Support")
    pages = [view_account(client, quiet), view_account(client, quiet, "requests")]
    text = visible_text("".join(pages))
    assert "No usage in the last 60 days." in text
    assert "No requests were refused in the last 30 days." in text
    assert "The request log has no requests of this account." in text
    assert "req_number" not in text


def test_every_tab_is_read_only_and_every_link_works(busy: Account) -> None:
    client = client_in_group("Support")
    tabs = re.findall(r"\?tab=([a-z-]+)", view_account(client, busy))
    pages = [view_account(client, busy, tab) for tab in tabs]
    assert set(re.findall(r'<form[^>]+action="([^"]+)"', "".join(pages))) == {
        *("/admin/search/", "/accounts/logout/")
    }
    assert client.post(account_url(busy)).status_code == 405
    mains = [page.partition("<main")[2].partition("</main>")[0] for page in pages]
    links = set(re.findall(r'href="(/[^"]+)"', "".join(mains)))
    assert len(links) > 20
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code == 200, link


def test_each_tab_runs_only_its_own_queries(busy: Account) -> None:
    client = client_in_group("Support")
    tabs = re.findall(r"\?tab=([a-z-]+)", view_account(client, busy))
    for tab in tabs:
        with CaptureQueriesContext(connection) as queries:
            view_account(client, busy, tab)
        assert len(queries) <= (24 if tab == "overview" else 18), tab


def test_viewing_an_account_does_not_switch_the_account(
    staff: User, stranger: User, busy: Account
) -> None:
    stranger.is_staff = stranger.is_superuser = True
    stranger.save()
    client = signed_in(stranger)
    before = dict(client.session)
    view_account(client, busy)
    assert dict(client.session) == before
    assert "Elsewhere" in client.get("/credits/").content.decode()


@pytest.mark.both
def test_view_is_recorded_once_per_hour_and_staff_user(busy: Account) -> None:
    support, finance = client_in_group("Support"), client_in_group("Finance")
    for client in (support, support, finance):
        view_account(client, busy)
    entries = busy.audit_entries.filter(action=VIEWED).order_by("pk")
    names = ["support@service.example", "finance@service.example"]
    assert list(entries.values_list("actor_name", flat=True)) == names
    assert entries[0].ip == "127.0.0.1"
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        view_account(support, busy)
    assert entries.count() == 3


def test_panel_is_hidden_without_its_permission_and_its_tab_with_the_last_panel(
    busy: Account,
) -> None:
    client = client_in_group("Support")
    for missing, tab, hidden in (
        ("view_order", "billing", "Latest orders"),
        ("view_ledgerentry", "billing", "Latest ledger entries"),
        ("view_wallet", "billing", "Balance and plan"),
        ("view_useday", "overview", "Usage by API key"),
        ("view_logentry", "requests", "Latest requests"),
        ("view_refusalhour", "requests", "Refused requests"),
        ("view_membership", "team", "Members"),
        ("view_auditentry", "audit-log", "Audit log"),
        ("view_addresslist", "lists", "Latest lists"),
        ("view_apikey", "keys-and-webhooks", "API keys"),
    ):
        assert f">{hidden}</h2>" in view_account(client, busy, tab), missing
        with without_permission("Support", missing):
            page = view_account(client, busy, tab)
        assert f">{hidden}</h2>" not in page, missing
        assert ("?tab=audit-log" in page) is (missing != "view_auditentry")


def test_view_without_permission_or_of_an_unknown_account_is_refused_and_not_recorded(
    busy: Account, staff: User
) -> None:
    client = signed_in(make_user("new@service.example", is_staff=True))
    assert client.get(account_url(busy)).status_code == 403
    assert signed_in(staff).get("/admin/customers/acc_nothing/").status_code == 404
    assert not busy.audit_entries.filter(action=VIEWED).exists()
