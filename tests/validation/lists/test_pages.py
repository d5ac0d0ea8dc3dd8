"""The page of a list in each state: what it says, what it offers, and to which roles."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from apikeys.actor import Actor
from credits.models import Wallet
from tests.conftest import make_member, signed_in
from tests.validation.lists.results_factory import make_list, make_ready_list, set_state
from validation.lists.control import Start, start_list
from validation.lists.services import create_list
from validation.models import AddressList
from validation.models.list_states import State

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/validation/lists/"
READERS = (Role.VIEWER, Role.BILLING)
# A cell, a column and a domain of the list.
CONTENTS = ("Doe, Jane", "deliverable@sandbox.test", "Our guess")
ACTIONS = ("column", "sample", "start", "pause", "resume", "cancel", "delete")


@pytest.fixture
def browser(owner: User) -> Client:
    return signed_in(owner)


def url(address_list: AddressList, action: str = "") -> str:
    return f"{PAGE}{address_list.public_id}/{action}"


def show(browser: Client, address_list: AddressList) -> str:
    response = browser.get(url(address_list))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def state_of(address_list: AddressList) -> str:
    address_list.refresh_from_db()
    return address_list.state


def make_started(account: Account, state: State, **fields: object) -> AddressList:
    address_list = make_ready_list(account)
    start_list(address_list=address_list, start=Start(), actor=None)
    set_state(address_list, state, **fields)
    return address_list


MOVING = {State.QUEUED, State.RUNNING, State.RECHECKING}
OFFERED = {
    State.UPLOADING: {"delete"},
    State.PARSING: {"delete"},
    State.READY: {"start", "column", "delete"},
    State.PAUSED: {"resume", "cancel", "delete", "download"},
    **{state: {"pause", "cancel", "delete"} for state in MOVING},
    State.RECHECKING: {"pause", "cancel", "delete", "download"},
    State.COMPLETED: {"download", "delete"},
    State.CANCELED: {"download", "delete"},
    State.FAILED: {"download", "delete"},
    State.EXPIRED: {"delete"},
}


@pytest.mark.parametrize("state", State)
def test_page_offers_what_the_state_allows(browser: Client, account: Account, state: State) -> None:
    address_list = make_list(account, state=state)
    page = show(browser, address_list)
    actions = ("download", *ACTIONS)
    assert {name for name in actions if url(address_list, f"{name}/") in page} == OFFERED[state]
    is_polled = url(address_list, f"progress/?phase={state}") in page
    assert is_polled == (state in MOVING | {State.UPLOADING, State.PARSING})


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("role", READERS)
def test_reader_sees_the_counts_but_no_rows_and_no_actions(
    account: Account, state: State, role: Role
) -> None:
    address_list = make_list(account, state=state)
    page = show(signed_in(make_member(account, role)), address_list)
    assert address_list.name in page
    assert "<dt>Rows</dt><dd>7</dd>" in page
    assert not [text for text in CONTENTS if text in page]
    assert not [name for name in ("download", *ACTIONS) if url(address_list, f"{name}/") in page]


@pytest.mark.parametrize("role", READERS)
def test_reader_cannot_do_anything(account: Account, role: Role) -> None:
    address_list = make_list(account)
    browser = signed_in(make_member(account, role))
    for action in ACTIONS:
        assert browser.post(url(address_list, f"{action}/")).status_code == 403
    assert browser.get(url(address_list, "download/"), DOWNLOAD).status_code == 403
    assert browser.get(f"{PAGE}create/").status_code == 403
    page = browser.get(PAGE).content.decode()
    assert address_list.name in page
    assert "New list" not in page


def test_reader_without_lists_learns_who_uploads_them(account: Account) -> None:
    page = signed_in(make_member(account, Role.VIEWER)).get(PAGE).content.decode()
    assert "that an owner, admin, or developer uploads" in page
    assert '<form method="post" enctype' not in page


def test_list_of_another_account_is_not_found(account: Account, stranger: User) -> None:
    address_list = make_list(account)
    browser = signed_in(stranger)
    for action in ("", "progress/", "download/", "cancel/", "delete/"):
        assert browser.get(url(address_list, action)).status_code == 404
    for action in ACTIONS:
        assert browser.post(url(address_list, f"{action}/")).status_code == 404
    assert state_of(address_list) == State.COMPLETED


def test_list_is_paused_and_resumed(browser: Client, account: Account) -> None:
    address_list = make_started(account, State.RUNNING)
    browser.post(url(address_list, "pause/"))
    assert state_of(address_list) == State.PAUSED
    assert "If it isn&#x27;t resumed by" in show(browser, address_list)
    browser.post(url(address_list, "resume/"))
    assert state_of(address_list) == State.QUEUED


def test_paused_list_says_why_we_paused_it(browser: Client, account: Account) -> None:
    reason = "The credits held for this list were used by a refund."
    error = {"error_code": "credits_deducted", "error_message": reason}
    address_list = make_started(account, State.PAUSED, paused_at=timezone.now(), **error)
    assert reason in show(browser, address_list)


def test_canceling_asks_first_and_releases_the_credits(browser: Client, account: Account) -> None:
    address_list = make_started(account, State.RUNNING)
    question = browser.get(url(address_list, "cancel/")).content.decode()
    assert "Credits that the list didn't use return to your balance." in question
    assert state_of(address_list) == State.RUNNING
    browser.post(url(address_list, "cancel/"))
    assert state_of(address_list) == State.CANCELED
    assert Wallet.objects.get(account=account).held == 0


def test_deleting_asks_first_and_erases_the_list(browser: Client, account: Account) -> None:
    address_list = make_started(account, State.RUNNING)
    question = browser.get(url(address_list, "delete/")).content.decode()
    assert "4 credits held for the list return to your balance." in question
    response = browser.post(url(address_list, "delete/"), follow=True)
    assert f"Deleted {address_list.name}." in response.content.decode()
    assert not AddressList.objects.exists()
    assert Wallet.objects.get(account=account).held == 0


def test_action_that_came_too_late_says_so(browser: Client, account: Account) -> None:
    address_list = make_list(account)
    response = browser.post(url(address_list, "pause/"), follow=True)
    assert b"The list has changed. This page shows its current state." in response.content
    assert state_of(address_list) == State.COMPLETED


def test_progress_is_a_fragment_until_the_phase_changes(browser: Client, account: Account) -> None:
    address_list = make_started(account, State.RUNNING, checked=2, deliverable=2)
    fragment = browser.get(url(address_list, "progress/?phase=running")).content.decode()
    assert "2 of 4 addresses checked" in fragment
    assert "data-ask-again" in fragment
    assert "<html" not in fragment
    set_state(address_list, State.COMPLETED)
    fragment = browser.get(url(address_list, "progress/?phase=running")).content.decode()
    assert "data-reload" in fragment


def test_moving_page_has_a_link_to_refresh_without_javascript(
    browser: Client, account: Account
) -> None:
    page = show(browser, make_started(account, State.RUNNING))
    assert "<noscript><p><a href=" in page
    assert "http-equiv" not in page


def test_list_that_could_not_start_says_why(browser: Client, account: Account) -> None:
    address_list = make_ready_list(account)
    set_state(address_list, State.READY, error_code="x", error_message="Your balance is too low.")
    assert "Your balance is too low." in show(browser, address_list)


DOWNLOAD = {"format": "csv", "filter": "all"}


@pytest.mark.parametrize(
    ("wanted", "rows"), [("all", 7), ("safe", 2), ("risky", 1), ("unknown", 1)]
)
def test_download_has_the_chosen_rows(
    browser: Client, account: Account, wanted: str, rows: int
) -> None:
    address_list = make_list(account)
    form = {"format": "jsonl", "filter": wanted}
    response = browser.get(url(address_list, "download/"), form)
    name = f"{address_list.name}-{wanted}.jsonl".replace("-all", "-results")
    assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert response.getvalue().count(b"\n") == rows


@pytest.mark.parametrize(
    ("line", "downloaded"),
    [
        ("name;email", "name;email;ev_verdict"),
        ("name,email", "name,email,ev_verdict"),
        ("name\temail", "name,email,ev_verdict"),
    ],
)
def test_download_keeps_semicolons(
    browser: Client, account: Account, line: str, downloaded: str
) -> None:
    content = f"{line}\n{line.replace('name', 'Jane').replace('email', 'jane@sandbox.test')}\n"
    address_list = make_ready_list(account, content.encode())
    set_state(address_list, State.PAUSED, checked=1, unknown=1)
    response = browser.get(url(address_list, "download/"), DOWNLOAD)
    assert response.getvalue().decode().removeprefix("\ufeff").startswith(downloaded)


def test_download_is_in_the_audit_log(browser: Client, account: Account, owner: User) -> None:
    address_list = make_list(account)
    browser.get(url(address_list, "download/"), DOWNLOAD)
    entry = AuditEntry.objects.get(action="list.downloaded")
    assert (entry.actor, entry.target) == (
        owner,
        f"{address_list.name} ({address_list.public_id})",
    )


@pytest.mark.parametrize("form", [{}, {"format": "xml", "filter": "all"}, {"format": "csv"}])
def test_malformed_download_leads_to_the_page(
    browser: Client, account: Account, form: dict[str, str]
) -> None:
    address_list = make_list(account)
    response = browser.get(url(address_list, "download/"), form)
    assert response.headers["Location"] == url(address_list)


def test_running_list_is_not_downloaded(browser: Client, account: Account) -> None:
    address_list = make_list(account, state=State.RUNNING)
    response = browser.get(url(address_list, "download/"), DOWNLOAD)
    assert response.headers["Location"] == url(address_list)


def test_table_shows_every_list_newest_first(browser: Client, account: Account) -> None:
    make_list(account, name="Old")
    new = create_list(actor=Actor(account))
    AddressList.objects.filter(pk=new.pk).update(
        name="New", created_at=timezone.now() + timedelta(seconds=1)
    )
    page = " ".join(browser.get(PAGE).content.decode().split())
    assert page.index(">New</a>") < page.index(">Old</a>")
    assert "25.0% deliverable, 25.0% risky, 25.0% undeliverable, 25.0% unknown" in page


def test_table_has_pages(browser: Client, account: Account) -> None:
    for number in range(26):
        account.lists.create(name=f"List {number}", state=State.COMPLETED)
    assert b"Page 1 of 2" in browser.get(PAGE).content
    assert b"List 0</a>" in browser.get(f"{PAGE}?page=2").content
