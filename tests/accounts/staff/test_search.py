"""The staff search finds customers by any name or id, and never shows a pasted API key."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, User
from accounts.services import open_account
from accounts.staff import links
from apikeys import crypto
from apikeys.models import ApiKey
from credits.models import Order
from credits.wallet.holds import hold_credits
from tests.accounts.staff.staff_pages import client_in_group, visible_text, without_permission
from tests.conftest import make_user
from validation.ids import new_batch_id
from validation.models import LogEntry

pytestmark = pytest.mark.django_db

SEARCH = "/admin/search/"
FIELDS: dict[str, Any] = {"status": 200, "path": "/v1/validate", "duration_ms": 1}


def search(client: Client, text: str) -> Any:
    return client.post(SEARCH, {"text": text})


def results(client: Client, text: str) -> str:
    """Return the text of a result page with several hits, or none."""
    response = search(client, text)
    assert response.status_code == 200
    return visible_text(response.content.decode().partition("<main")[2])


def add_log_entry(account: Account, request_id: str) -> LogEntry:
    return LogEntry.objects.create(account=account, request_id=request_id, **FIELDS)


def assert_redirects_to(response: Any, row: Any) -> None:
    assert response.status_code == 302
    url = links.account_link(row).url if isinstance(row, Account) else links.admin_url(row)
    assert response["Location"] == url


def test_name_number_or_id_leads_to_its_row(
    staff_client: Client, account: Account, owner: User, key: ApiKey, order: Order
) -> None:
    first, last = key.first_four, key.last_four
    for row, texts in (
        (owner, ("owner@shop.example", " Owner@Shop.Example ")),
        (account, ("The Shop", "the shop", account.public_id)),
        (key, (f"svc_live_{first}…{last}", f"{first}…{last}", f"svc_live_{first}...{last}")),
        (key, (f"{first}*****{last}", key.public_id)),
        (order, ("INV-000001", "inv-1", "1", "000001", order.public_id)),
        *((add_log_entry(account, one), [one]) for one in ("req_" + "a" * 20, "my-own_id-2026")),
    ):
        for text in texts:
            assert_redirects_to(search(staff_client, text), row)


def test_part_of_a_name_lists_similar_accounts_and_users(
    staff_client: Client, account: Account, stranger: User
) -> None:
    result_text = results(staff_client, "sho")
    assert f"Accounts The Shop {account.public_id} Users" in result_text
    assert " Users owner@shop.example Olive Owner The Shop" in result_text
    assert "Elsewhere" not in result_text


def test_exact_match_comes_before_similar_ones(staff_client: Client, account: Account) -> None:
    for number in range(12):
        user = make_user(f"a{number}-owner@shop.example")
        open_account(user=user, name=f"At The Shop {number}")
    assert_redirects_to(search(staff_client, "The Shop"), account)
    open_account(user=user, name="The Shop")
    assert results(staff_client, "The Shop").count("The Shop acc_") == 2
    assert_redirects_to(
        search(staff_client, "owner@shop.example"), User.objects.get(email="owner@shop.example")
    )
    assert results(staff_client, "shop").count(" At The Shop") == 10 + 10


def test_part_of_a_key_lists_keys_and_marks_revoked_ones(
    staff_client: Client, key: ApiKey, secret: str
) -> None:
    for text in (key.first_four, key.last_four, secret[:30]):
        assert f"{key} {key.public_id} The Shop" in results(staff_client, text)
    assert secret[:30] not in search(staff_client, secret[:30]).content.decode()
    key.revoke()
    assert f"{key.public_id}, revoked" in results(staff_client, key.first_four)


def test_repeated_client_request_id_lists_ten_entries(
    staff_client: Client, account: Account
) -> None:
    for _ in range(12):
        add_log_entry(account, "always-the-same")
    assert results(staff_client, "always-the-same").count("always-the-same 200 OK") == 10


def test_list_id_leads_to_its_list(staff_client: Client, account: Account) -> None:
    address_list = account.lists.create(name="customers.csv")
    account.lists.create(name="others.csv")
    assert_redirects_to(search(staff_client, f" {address_list.public_id} "), address_list)
    assert "No results" in results(staff_client, "customers.csv")


def test_batch_id_leads_to_its_requests(staff_client: Client, account: Account) -> None:
    batch_id, other = new_batch_id(), add_log_entry(account, "req_abcdefghijklmnopqrst")
    entry = LogEntry.objects.create(
        account=account, request_id="req_zbcdefghijklmnopqrst", batch_id=batch_id, **FIELDS
    )
    assert_redirects_to(search(staff_client, batch_id), entry)
    assert other.batch_id == ""


def test_source_of_a_hold_leads_to_it(staff_client: Client, account: Account) -> None:
    hold = hold_credits(account=account, amount=5, source="list:lst_1", reason="customers.csv")
    assert_redirects_to(search(staff_client, "list:lst_1"), hold)
    hold_credits(account=account, amount=5, source="list:lst_1:2", reason="customers.csv")
    assert results(staff_client, "list:lst_1").count("5 of 5 credits left") == 2


def test_empty_result_explains_what_can_be_found(staff_client: Client, account: Account) -> None:
    entry = add_log_entry(account, "req_abcdefghijklmnopqrst")
    LogEntry.objects.filter(pk=entry.pk).update(address="j***@example.com", domain="example.com")
    validated = ("j***@example.com", "example.com")
    for text in ("unknown@nowhere.example", "x\0y", "a" * 300, "", "  ", "%", "'", *validated):
        result_text = results(staff_client, text)
        assert "No results" in result_text, text
        assert "The search above finds users by email" in result_text, text


def test_query_is_escaped(staff_client: Client) -> None:
    assert "&lt;b&gt;x" in search(staff_client, "<b>x").content.decode()


def test_pasted_key_leads_to_its_page_and_is_never_shown(
    staff_client: Client, key: ApiKey, secret: str
) -> None:
    tail = secret[len(crypto.PREFIX) :]
    bearer, setting = f"Authorization: Bearer {secret}", f"SVC_API_KEY='{secret}'"
    for text in (secret, f" {secret} ", bearer, setting, tail):
        with CaptureQueriesContext(connection) as queries:
            response = search(staff_client, text)
        assert_redirects_to(response, key)
        assert tail not in response["Location"]
        # psycopg reports no text for prepared statements; these contain no values.
        assert not [query for query in queries if tail in (query["sql"] or "")], text
    page = staff_client.get(response["Location"]).content.decode()
    assert key.display in page
    assert secret not in page


def test_unknown_key_is_not_shown(staff_client: Client, key: ApiKey) -> None:
    unknown = crypto.generate()
    page = search(staff_client, unknown).content.decode()
    assert unknown not in page
    assert unknown[len(crypto.PREFIX) :] not in page
    assert "all or part of an API key" in page
    assert "No results" in page


@pytest.mark.anywhere
def test_search_box_is_on_every_page_and_uses_post(staff_client: Client) -> None:
    for url in ("/admin/", "/admin/accounts/account/", SEARCH):
        page = staff_client.get(url).content.decode()
        form = page.partition('id="staff-search"')[2].partition("</form>")[0]
        assert 'method="post"' in form
        assert f'action="{SEARCH}"' in form
        assert "csrfmiddlewaretoken" in form
        assert "value=" not in form.partition('name="text"')[2]


def test_query_string_is_not_searched(staff_client: Client, account: Account) -> None:
    response = staff_client.get(SEARCH, {"text": "The Shop"})
    assert response.status_code == 200
    assert "The Shop" not in response.content.decode()


@pytest.mark.anywhere
def test_search_requires_the_permission_for_each_kind(
    account: Account, order: Order, key: ApiKey, secret: str
) -> None:
    add_log_entry(account, "req_abcdefghijklmnopqrst")
    client = client_in_group("Support")
    for missing, *texts in (
        ("view_order", "INV-000001"),
        ("view_logentry", "req_abcdefghijklmnopqrst"),
        ("view_apikey", key.public_id, secret),
        ("view_user", "owner@shop.example"),
        ("view_account", "The Shop"),
    ):
        assert {search(client, text).status_code for text in texts} == {302}, missing
        with without_permission("Support", missing):
            assert all("No results" in results(client, text) for text in texts), missing
