"""Settings → Data: how long requests are kept, and one address erased."""

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from tests.conftest import make_member, signed_in
from tests.support.api_client import ApiClient
from validation.models import LogEntry, Replay

pytestmark = pytest.mark.django_db

PAGE = "/validation/data/"
ADDRESS = "jane.doe@sandbox.test"


@pytest.fixture
def browser(owner: User) -> Client:
    return signed_in(owner)


@pytest.mark.parametrize(("chosen", "kept"), [("0", 0), ("7", 7), ("14", 14), ("", 30)])
def test_an_owner_says_how_long_requests_are_kept(
    browser: Client, account: Account, chosen: str, kept: int
) -> None:
    answer = browser.post(f"{PAGE}days/", {"log_days": chosen}, follow=True)
    assert b"is saved" in answer.content
    account.refresh_from_db()
    assert account.kept_log_days == kept
    entry = AuditEntry.objects.get(action="account.log_days_changed")
    assert entry.target == f"30 → {kept} days"


@pytest.mark.parametrize("chosen", ["31", "30", "-1", "90", "x", "1.5"])
def test_no_other_time_can_be_chosen(browser: Client, account: Account, chosen: str) -> None:
    answer = browser.post(f"{PAGE}days/", {"log_days": chosen})
    assert b"errorlist" in answer.content
    account.refresh_from_db()
    assert account.log_days is None


def test_the_operators_time_is_the_longest_and_offered_last(
    browser: Client, settings: Settings
) -> None:
    settings.LOG_RETENTION_DAYS = 10
    page = browser.get(PAGE).content.decode()
    assert '<option value="" selected>For 10 days, the longest</option>' in page
    assert '<option value="7">' in page
    assert '<option value="14">' not in page


def test_the_page_says_what_holds_now(browser: Client, account: Account) -> None:
    assert ">30 days</td>" in browser.get(PAGE).content.decode()
    Account.objects.update(log_days=0)
    page = browser.get(PAGE).content.decode()
    assert ">Not at all</td>" in page
    assert '<option value="0" selected>' in page


def test_a_developer_looks_and_is_told_who_may(account: Account) -> None:
    page = signed_in(make_member(account, Role.DEVELOPER)).get(PAGE)
    assert b"An owner or admin can change it." in page.content
    assert b"<select" not in page.content


def test_an_address_is_named_before_it_is_erased(browser: Client, caller: ApiClient) -> None:
    caller.validate(ADDRESS, Idempotency_Key="order-1")
    page = browser.post(f"{PAGE}erase/confirm/", {"email": "Jane.Doe@sandbox.test"})
    assert "Jane.Doe@sandbox.test" in page.content.decode()
    assert b"holds it in 1 request in the log and 1 answer to repeat." in page.content
    assert LogEntry.objects.exists()


def test_an_address_is_erased(browser: Client, caller: ApiClient, account: Account) -> None:
    caller.validate(ADDRESS, Idempotency_Key="order-1")
    answer = browser.post(f"{PAGE}erase/", {"email": ADDRESS}, follow=True)
    assert b"j***@sandbox.test is erased from log and answers." in answer.content
    assert not LogEntry.objects.exists()
    assert not Replay.objects.exists()
    assert AuditEntry.objects.get(action="address.erased").account == account


def test_an_address_nobody_asked_about_is_not_to_be_erased(browser: Client) -> None:
    page = browser.post(f"{PAGE}erase/confirm/", {"email": "nobody@shop.example"})
    assert b"Nothing of The Shop holds it now." in page.content
    assert b"Erase the address" not in page.content


@pytest.mark.parametrize("step", ["erase/confirm/", "erase/"])
def test_no_address_is_asked_for_again(browser: Client, step: str) -> None:
    assert b"errorlist" in browser.post(f"{PAGE}{step}", {"email": ""}).content
