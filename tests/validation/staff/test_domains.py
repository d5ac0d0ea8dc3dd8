"""An account's own domains in the admin."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Account, User
from apikeys.actor import Actor
from tests.conftest import signed_in
from validation.account_domains.services import replace_domains
from validation.models import AccountDomains

pytestmark = pytest.mark.django_db

CHANGELIST = reverse("admin:validation_accountdomains_changelist")


@pytest.fixture
def stored(account: Account, owner: User) -> AccountDomains:
    return replace_domains(
        actor=Actor(account, user=owner),
        allowed=["partner.example"],
        denied=["spam.example", "worse.example"],
    )


@pytest.fixture
def browser(staff: User) -> Client:
    return signed_in(staff)


def test_account_is_found_with_the_numbers_of_its_domains(
    browser: Client, stored: AccountDomains, account: Account
) -> None:
    page = browser.get(CHANGELIST, {"q": account.public_id}).content.decode()
    assert '<td class="field-number_allowed">1</td>' in page
    assert '<td class="field-number_denied">2</td>' in page
    assert account.name not in browser.get(CHANGELIST, {"q": "acc_other"}).content.decode()


def test_staff_read_both_lists_and_change_neither(browser: Client, stored: AccountDomains) -> None:
    path = reverse("admin:validation_accountdomains_change", args=[stored.pk])
    page = browser.get(path).content.decode()
    assert "partner.example" in page
    assert "spam.example<br>worse.example" in page
    assert browser.post(path, {"denied": "[]"}).status_code == 403


def test_page_of_an_account_shows_how_many_domains_it_has(
    browser: Client, stored: AccountDomains, account: Account, stranger: User
) -> None:
    def panel(account: Account) -> str:
        text = browser.get(f"/admin/customers/{account.public_id}/?tab=verdicts").content.decode()
        return text[text.index("Own domains") :]

    path = reverse("admin:validation_accountdomains_change", args=[stored.pk])
    assert path in panel(account)
    other = stranger.memberships.get().account
    assert "The account allows and denies no domains." in panel(other)


def test_saving_an_account_writes_no_older_version_of_its_domains(
    browser: Client, stored: AccountDomains, account: Account
) -> None:
    """Between the form's read and its write, a member may change the domains."""
    path = reverse("admin:accounts_account_change", args=[account.pk])
    form = {"name": "A new name", "requests_per_minute_override": ""}
    with CaptureQueriesContext(connection) as queries:
        assert browser.post(path, form).status_code == 302
    (update,) = [q["sql"] for q in queries if q["sql"].startswith('UPDATE "accounts_account"')]
    assert "A new name" in update
    assert "domains_version" not in update
