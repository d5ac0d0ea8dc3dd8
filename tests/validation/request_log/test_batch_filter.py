"""The request log shows the addresses of one batch."""

import re

import pytest
from django.test import Client

from accounts.models import Account, User
from tests.conftest import signed_in
from tests.support.api_client import ApiClient
from tests.validation.reports.usage_data import read_page
from validation.models import LogEntry

pytestmark = pytest.mark.django_db

PAGE = "/validation/requests/"


@pytest.fixture
def batch_id(caller: ApiClient) -> str:
    """A batch of three addresses, between two other requests."""
    caller.validate("other@sandbox.test")
    emails = ["anna@sandbox.test", "risky@sandbox.test", "carl@sandbox.test"]
    batch = caller.validate_batch(emails).json()
    caller.validate("other@sandbox.test")
    return str(batch["id"])


def shown_addresses(page: str) -> list[str]:
    return re.findall(r'class="log-address">(.)\*', page)


def test_searching_a_batch_id_shows_only_its_addresses(browser: Client, batch_id: str) -> None:
    for typed in (batch_id, batch_id.lower(), batch_id.upper()):
        response = browser.post(f"{PAGE}find/", {"text": typed}, follow=True)
        assert response.redirect_chain == [(f"{PAGE}?batch={batch_id}", 302)]
        page = read_page(response)
        assert shown_addresses(page) == ["c", "r", "a"]
        assert f"Remove the filter batch: {batch_id}" in page


def test_request_links_to_its_batch(browser: Client, account: Account, batch_id: str) -> None:
    entry = LogEntry.objects.filter(account=account, batch_id=batch_id).earliest("at")
    page = read_page(browser.get(entry.get_absolute_url()))
    assert f'href="{PAGE}?batch={batch_id}"' in page
    assert f'"batch_id": "{batch_id}"' in re.sub("<[^>]*>", "", page)


def test_batch_of_another_account_is_not_found(batch_id: str, stranger: User) -> None:
    page = read_page(signed_in(stranger).get(f"{PAGE}?batch={batch_id}"))
    assert "No matching requests." in page
    assert not shown_addresses(page)
