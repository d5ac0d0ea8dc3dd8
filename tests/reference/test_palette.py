"""The dashboard's search finds what the member's role may open, and nothing of other accounts."""

import pytest
from django.test import Client

from accounts.models import Account, User
from accounts.roles import Role
from apikeys.models import ApiKey
from credits.models import Pack
from credits.orders.placement import place_order
from credits.orders.quotes import Buyer, quote
from reference.palette import find_entries
from tests.conftest import make_member, signed_in
from tests.support.api_client import ApiClient
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def titles(client: Client, query: str) -> list[str]:
    page = client.get("/reference/search/", {"q": query})
    return [entry.title for _, entries in page.context["groups"] for entry in entries]


@pytest.fixture
def rows(owner: User, account: Account, secret: str) -> ApiKey:
    """Create a list, an order and a request next to the key."""
    account.lists.create(name="customers.csv", created_by=owner.email)
    pack = Pack.objects.earliest("credits")
    place_order(quote=quote(account, pack), buyer=Buyer("The Shop Ltd"), actor=owner)
    ApiClient(secret).validate("risky@sandbox.test")
    return account.api_keys.get()


@pytest.mark.parametrize("role", Role)
def test_each_role_may_open_everything_it_finds(role: Role, account: Account, rows: ApiKey) -> None:
    member = make_member(account, role)
    browser, membership = signed_in(member), member.memberships.get()
    found = [
        e for q in ("", "sandbox.test@", "key") for _, es in find_entries(membership, q) for e in es
    ]
    assert len(found) > 15
    # Those of the docs are public.
    for entry in (entry for entry in found if not entry.url.startswith("/docs/")):
        assert browser.get(entry.url, follow=True).status_code == 200, entry.title


def test_viewer_finds_neither_keys_nor_orders_nor_actions(account: Account, rows: ApiKey) -> None:
    browser = signed_in(make_member(account, Role.VIEWER))
    found = titles(browser, "")
    assert "customers.csv (uploading)" in found
    assert not {"API Keys", "Create key", "Buy credits", "Orders and invoices", str(rows)} & {
        *found
    }


def test_owner_finds_a_key_a_list_and_an_order_by_name(owner: User, rows: ApiKey) -> None:
    browser = signed_in(owner)
    order = rows.account.orders.get()
    assert titles(browser, rows.name)[0] == str(rows)
    assert titles(browser, "CUSTOMERS")[0] == "customers.csv (uploading)"
    assert titles(browser, order.number)[0] == str(order)
    assert titles(browser, "invoice receipt")[0] == "Orders and invoices"


def test_requests_are_found_by_id_and_address(owner: User, rows: ApiKey) -> None:
    browser, entry = signed_in(owner), LogEntry.objects.get()
    for text in (entry.request_id, entry.result_id.lower(), "risky@sandbox.test"):
        page = browser.get("/reference/search/", {"q": text})
        first = page.context["groups"][0][1][0]
        assert first.title == f"Requests for {text}"
        assert "@" not in first.url
        assert b"sandbox" in browser.get(first.url).content, text


def test_stranger_finds_nothing_of_this_account(stranger: User, rows: ApiKey) -> None:
    browser, entry = signed_in(stranger), LogEntry.objects.get()
    for text in (rows.name, "customers.csv", entry.request_id, entry.result_id):
        assert [title for title in titles(browser, text) if "docs" not in title] == [], text


def test_a_pasted_key_is_neither_searched_nor_shown(owner: User, secret: str) -> None:
    page = signed_in(owner).get("/reference/search/", {"q": f"key {secret}"})
    assert page.context["groups"] == []
    assert secret not in page.content.decode()
    assert "That's an API key." in page.content.decode().replace("&#x27;", "'")


def test_dialog_gets_only_options(owner: User) -> None:
    options = (
        signed_in(owner).get("/reference/search/", {"q": "plan\0", "options": ""}).content.decode()
    )
    assert "<html" not in options
    assert 'href="/credits/plans/" role="option"' in options
