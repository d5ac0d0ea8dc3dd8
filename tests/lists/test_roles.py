"""What each role sees of lists and does with them. API keys have no roles."""

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts.models import Account
from accounts.roles import Role
from apikeys.services import create_key
from lists.models import AddressList
from lists.models.states import ListState
from tests.conftest import make_member, signed_in
from tests.lists.results_factory import make_list, set_state
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

READERS = (Role.VIEWER, Role.BILLING)
# Pages with names, states and counts.
OPEN_TO_READERS = {"show-lists", "show-list", "show-list-progress"}
# What the file says, and what we found in it.
SECRETS = (b"Doe, Jane", b"says", b"sandbox.test", b"repeated", b"name</", b"Top domains")


def list_pages() -> dict[str, URLPattern]:
    """Return all pages of lists by name, read from the URL configuration."""
    (resolver,) = (
        pattern
        for pattern in get_resolver().url_patterns
        if isinstance(pattern, URLResolver) and pattern.app_name == "lists"
    )
    patterns = [pattern for pattern in resolver.url_patterns if isinstance(pattern, URLPattern)]
    return {str(pattern.name): pattern for pattern in patterns}


PAGES = list_pages()


def path_of(name: str, address_list: AddressList) -> str:
    values = {"list_id": address_list.public_id, "number": 1}
    wanted = PAGES[name].pattern.converters
    return reverse(f"lists:{name}", kwargs={key: values[key] for key in wanted})


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, account: Account) -> Client:
    return signed_in(make_member(account, request.param))


def test_readers_can_open_or_change_nothing_else(reader: Client, account: Account) -> None:
    address_list = make_list(account)
    before = AddressList.objects.values().get()
    form = {"addresses": "jane@shop.example", "dedupe": "address", "column": "1"}
    for name in PAGES.keys() - OPEN_TO_READERS:
        path = path_of(name, address_list)
        # Two pages accept no form from any role.
        is_read_only = name in {"download-list", "show-upload"}
        assert reader.post(path, form).status_code == (405 if is_read_only else 403), name
        response = reader.get(path, {"format": "csv", "filter": "all"})
        # Pages that accept only a form redirect to the page that has it.
        assert response.status_code in {302, 403}, name
        assert not any(secret in response.content for secret in SECRETS), name
        assert AddressList.objects.values().get() == before, name


def test_readers_see_names_states_and_counts_but_no_rows(reader: Client, account: Account) -> None:
    address_list = make_list(account)
    for state in ListState:
        set_state(address_list, state)
        for name in OPEN_TO_READERS:
            response = reader.get(path_of(name, address_list))
            assert response.status_code == 200, state
            page = response.content.replace(b"customers.csv", b"")
            assert not [secret for secret in SECRETS if secret in page], state
            assert b"/download/" not in page, state
            forms = page.partition(b"<main")[2].partition(b"</main>")[0].count(b'method="post"')
            assert forms == 0, state


def test_key_does_everything_even_if_its_creator_is_a_viewer_now(account: Account) -> None:
    developer = make_member(account, Role.DEVELOPER)
    _, secret = create_key(account=account, name="Server", actor=developer)
    developer.memberships.update(role=Role.VIEWER)
    caller, path = ApiClient(secret), f"/v1/lists/{make_list(account).public_id}"
    for operation in ("", "/preview", "/results", "/download"):
        assert caller.get(f"{path}{operation}").status_code == 200
    assert caller.call("DELETE", path).status_code == 200
