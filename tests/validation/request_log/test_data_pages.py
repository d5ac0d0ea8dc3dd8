"""Settings → Data: retention of requests and erasure of an address."""

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, AuditEntry
from accounts.roles import Role
from tests.conftest import make_member, signed_in
from tests.support.api_client import ApiClient
from validation.models import LogEntry, Replay

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/validation/data/"
ADDRESS = "jane.doe@sandbox.test"


@pytest.mark.parametrize(("choice", "days"), [("0", 0), ("7", 7), ("14", 14), ("", 30)])
def test_owner_sets_a_retention(browser: Client, account: Account, choice: str, days: int) -> None:
    response = browser.post(f"{PAGE}days/", {"log_days": choice}, follow=True)
    assert b"Request retention saved." in response.content
    account.refresh_from_db()
    assert account.log_retention_days == days
    entry = AuditEntry.objects.get(action="account.log_days_changed")
    assert entry.target == f"30 → {days} days"


def test_other_retention_times_are_refused(browser: Client, account: Account) -> None:
    for choice in ("31", "30", "-1", "90", "x", "1.5"):
        response = browser.post(f"{PAGE}days/", {"log_days": choice})
        assert b"errorlist" in response.content, choice
    account.refresh_from_db()
    assert account.log_days is None


def test_operators_retention_is_the_last_choice(browser: Client, settings: Settings) -> None:
    settings.LOG_RETENTION_DAYS = 10
    page = browser.get(PAGE).content.decode()
    assert '<option value="" selected>10 days (maximum)</option>' in page
    assert '<option value="7">' in page
    assert '<option value="14">' not in page


def test_page_shows_the_current_retention(browser: Client) -> None:
    assert ">30 days</td>" in browser.get(PAGE).content.decode()
    Account.objects.update(log_days=0)
    page = browser.get(PAGE).content.decode()
    assert ">Not stored</td>" in page
    assert '<option value="0" selected>' in page


def test_developer_sees_the_settings_and_who_can_change_them(account: Account) -> None:
    page = signed_in(make_member(account, Role.DEVELOPER)).get(PAGE)
    assert b"An owner or admin can change this." in page.content
    assert b"<select" not in page.content


def test_address_is_erased_after_a_confirmation_page(
    browser: Client, caller: ApiClient, account: Account
) -> None:
    caller.validate(ADDRESS, Idempotency_Key="order-1")
    page = browser.post(f"{PAGE}erase/confirm/", {"email": "Jane.Doe@sandbox.test"})
    assert "Jane.Doe@sandbox.test" in page.content.decode()
    assert b"This deletes 1 request and 1 stored response." in page.content
    assert LogEntry.objects.exists()
    response = browser.post(f"{PAGE}erase/", {"email": ADDRESS}, follow=True)
    assert b"Erased j***@sandbox.test." in response.content
    assert not LogEntry.objects.exists()
    assert not Replay.objects.exists()
    assert AuditEntry.objects.get(action="address.erased").account == account


def test_address_without_requests_has_no_erase_button_and_none_is_refused(browser: Client) -> None:
    page = browser.post(f"{PAGE}erase/confirm/", {"email": "unknown@shop.example"})
    assert b"The Shop has no data about this address." in page.content
    assert b"Erase address" not in page.content
    for step in ("erase/confirm/", "erase/"):
        assert b"errorlist" in browser.post(f"{PAGE}{step}", {"email": ""}).content
