"""The table of lists: search, filter, and the actions of its rows."""

import pytest
from django.test import Client

from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from credits.models import Wallet
from lists.lifecycle import Start, start_list
from lists.models import AddressList
from lists.models.states import ListState
from tests.conftest import make_member, signed_in
from tests.lists.results_factory import make_list, make_ready_list

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/lists/"


@pytest.fixture
def three(account: Account) -> None:
    for name, state in (
        ("May customers", ListState.COMPLETED),
        ("June customers", ListState.FAILED),
        ("Leads 100%", ListState.COMPLETED),
    ):
        account.lists.create(name=name, state=state)


def show(browser: Client, query: str = "") -> str:
    response = browser.get(f"{PAGE}{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.mark.usefixtures("three")
def test_lists_are_found_by_name_and_state(browser: Client) -> None:
    for query, found in {
        "": {"May", "June", "Leads"},
        "?q=CUSTOMERS": {"May", "June"},
        "?q=%25": {"Leads"},
        "?state=completed": {"May", "Leads"},
        "?state=completed&q=may": {"May"},
    }.items():
        page = show(browser, query)
        assert {name for name in ("May", "June", "Leads") if f">{name} " in page} == found, query


@pytest.mark.usefixtures("three")
def test_filter_without_a_match_says_so_and_can_be_cleared(browser: Client) -> None:
    for query, message in {
        "?q=leads&state=failed": "No matching lists.",
        "?state=finished": "Select a valid choice.",
        "?q=%00": "Null characters are not allowed.",
    }.items():
        page = show(browser, query)
        assert message in page
        assert "Clear filters" in page
        assert "No lists yet." not in page


def test_next_page_keeps_the_filter(browser: Client, account: Account) -> None:
    for number in range(26):
        account.lists.create(name=f"Leads {number}", state=ListState.COMPLETED)
    assert 'href="?q=leads&amp;page=2"' in show(browser, "?q=leads")
    assert "Leads 0</a>" in show(browser, "?q=leads&page=2")


ACTIONS = ("rename", "run-again", "delete", "download")


@pytest.mark.parametrize(
    ("role", "offered"), [(Role.DEVELOPER, set(ACTIONS)), (Role.VIEWER, set())]
)
def test_row_offers_actions_to_some_roles(account: Account, role: Role, offered: set[str]) -> None:
    path = f"{PAGE}{make_list(account).public_id}"
    page = show(signed_in(make_member(account, role)))
    assert {action for action in ACTIONS if f"{path}/{action}/" in page} == offered
    assert ("Delete selected" in page) == bool(offered)


def test_row_without_results_offers_no_download(browser: Client, account: Account) -> None:
    make_ready_list(account)
    assert "/download/" not in show(browser)


def test_list_is_renamed(browser: Client, account: Account, owner: User) -> None:
    address_list = make_ready_list(account, name="customers.csv")
    path = f"{PAGE}{address_list.public_id}/rename/"
    assert 'value="customers.csv"' in browser.get(path).content.decode()
    for name, message in {
        "": "This field is required.",
        "x" * 101: "at most 100",
        "a\u202eb": "U+202E",
    }.items():
        assert message in browser.post(path, {"name": name}).content.decode()
        assert AddressList.objects.get().name == "customers.csv"
    response = browser.post(path, {"name": "May customers"})
    assert response.headers["Location"] == PAGE
    assert ">May customers</a>" in show(browser)
    entry = AuditEntry.objects.get(action="list.renamed")
    assert entry.actor == owner
    assert "May customers" in entry.target


def run_again(browser: Client, address_list: AddressList) -> str:
    response = browser.post(f"{PAGE}{address_list.public_id}/run-again/", follow=True)
    return " ".join(response.content.decode().split())


def test_list_runs_again_as_a_new_list(browser: Client, account: Account) -> None:
    address_list = make_list(account, name="May customers")
    assert "Run again" in show(browser)
    page = run_again(browser, address_list)
    rerun = AddressList.objects.get(rerun_of=address_list)
    assert (rerun.name, rerun.state) == ("May customers", ListState.PARSING)
    assert f"/lists/{rerun.public_id}/progress/" in page


def test_list_without_rows_does_not_run_again(browser: Client, account: Account) -> None:
    address_list = account.lists.create(name="May", state=ListState.EXPIRED, rows=7)
    assert "Run again" not in show(browser)
    assert "The list has changed." in run_again(browser, address_list)
    assert AddressList.objects.count() == 1


def select(*lists: AddressList) -> str:
    return f"{PAGE}delete/?{'&'.join(f'list={address_list.public_id}' for address_list in lists)}"


def test_selected_lists_are_named_before_their_deletion(browser: Client, account: Account) -> None:
    kept, first, second = (make_ready_list(account, name=name) for name in ("Kept", "May", "June"))
    start_list(address_list=first, start=Start(), actor=None)
    question = " ".join(browser.get(select(first, second)).content.decode().split())
    assert "Delete 2 lists?" in question
    assert ">May</bdi>" in question
    assert ">June</bdi>" in question
    assert "Kept" not in question
    assert "4 credits held for the lists return to your balance." in question
    response = browser.post(select(first, second), follow=True)
    assert b"Deleted 2 lists." in response.content
    assert list(AddressList.objects.all()) == [kept]
    assert Wallet.objects.get(account=account).held == 0
    assert AuditEntry.objects.filter(action="list.deleted").count() == 2


def test_deleting_nothing_says_what_to_do(browser: Client) -> None:
    for query in ("", "?list=", "?list=%00", "?list=lst_00000000000000000000"):
        for send in (browser.get, browser.post):
            response = send(f"{PAGE}delete/{query}", follow=True)
            assert b"Select the lists that you want to delete." in response.content


def test_lists_of_others_are_not_deleted(browser: Client, account: Account, stranger: User) -> None:
    address_list = make_ready_list(account)
    signed_in(stranger).post(select(address_list))
    assert AddressList.objects.get() == address_list
