"""The request log in the admin: search by id, and erasure of an address."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry
from tests.accounts.staff.staff_pages import client_in_group
from tests.support.api_client import ApiClient
from validation.models import LogEntry, Replay

pytestmark = pytest.mark.django_db

LIST = "/admin/validation/logentry/"
ADDRESS = "jane.doe@sandbox.test"


@pytest.fixture
def support() -> Client:
    return client_in_group("Support")


@pytest.fixture
def entry(caller: ApiClient) -> LogEntry:
    caller.validate(ADDRESS, Idempotency_Key="order-1", X_Request_Id="the-clients-own")
    caller.validate("joan@sandbox.test")
    return LogEntry.objects.earliest("pk")


def test_list_is_empty_until_staff_search(support: Client, entry: LogEntry) -> None:
    page = support.get(LIST)
    assert b"Search to see requests." in page.content
    assert entry.request_id.encode() not in page.content


@pytest.mark.parametrize("field", ["result_id", "request_id", "address_hash"])
def test_request_is_found_by_each_of_its_ids(support: Client, entry: LogEntry, field: str) -> None:
    page = support.get(LIST, {"q": getattr(entry, field)}).content.decode()
    assert "j***@sandbox.test" in page
    assert page.count('class="field-request_id"') == 1


@pytest.mark.anywhere
@pytest.mark.parametrize("query", ["", "?q=val_0", "?q=req_0&o=1", "?status=200", "?p=3", "?all="])
def test_list_counts_no_rows(support: Client, entry: LogEntry, query: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        support.get(LIST + query)
    statements = [query["sql"] for query in queries if "validation_logentry" in query["sql"]]
    assert not [sql for sql in statements if "COUNT(" in sql]
    assert all("WHERE" in sql or "MAX(" in sql for sql in statements)


def test_support_erases_an_address_of_all_accounts(support: Client, entry: LogEntry) -> None:
    page = support.post(f"{LIST}find/", {"email": ADDRESS.title()}).content.decode()
    assert "Found across all accounts: 1 request and 1 stored response." in page
    assert f"{LIST}?q={entry.address_hash}" in page
    response = support.post(f"{LIST}erase/", {"email": ADDRESS}, follow=True)
    assert b"Erased j***@sandbox.test (2 rows)." in response.content
    assert LogEntry.objects.get().address == "j***@sandbox.test"
    assert LogEntry.objects.get().pk != entry.pk
    assert not Replay.objects.exists()
    staff_entry, account_entry = AuditEntry.objects.filter(action="address.erased").order_by("pk")
    assert (staff_entry.account, staff_entry.actor_name) == (None, "support@service.example")
    assert (account_entry.account, account_entry.who) == (entry.account, "Our support team")
    assert ADDRESS not in staff_entry.target + account_entry.target


def test_finance_can_find_but_not_erase_an_address(entry: LogEntry) -> None:
    finance = client_in_group("Finance")
    page = finance.post(f"{LIST}find/", {"email": ADDRESS}).content
    assert b"Found across all accounts" in page
    assert b"Erase address" not in page
    assert finance.post(f"{LIST}erase/", {"email": ADDRESS}).status_code == 403
    assert LogEntry.objects.filter(pk=entry.pk).exists()


def test_request_is_read_only_in_the_admin(support: Client, entry: LogEntry) -> None:
    page = support.get(f"{LIST}{entry.pk}/change/")
    assert page.status_code == 200
    assert entry.address_hash.encode() not in page.content
    assert support.post(f"{LIST}{entry.pk}/change/", {"status": 1}).status_code == 403
