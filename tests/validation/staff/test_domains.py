"""An account's own domains in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Account, User
from tests.conftest import signed_in
from validation.domains.services import DomainLists, replace_domains
from validation.models import AccountDomains

pytestmark = pytest.mark.django_db

CHANGELIST = reverse("admin:validation_accountdomains_changelist")


@pytest.fixture
def stored(account: Account, owner: User) -> AccountDomains:
    lists = DomainLists(["partner.example"], ["spam.example", "worse.example"])
    replace_domains(account=account, new=lists, actor=owner, ip=None)
    return AccountDomains.objects.get(account=account)


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
        text = browser.get(f"/admin/usage/{account.public_id}/").content.decode()
        return text[text.index("Own domains") :]

    path = reverse("admin:validation_accountdomains_change", args=[stored.pk])
    assert path in panel(account)
    other = stranger.memberships.get().account
    assert "The account allows and denies no domains." in panel(other)
