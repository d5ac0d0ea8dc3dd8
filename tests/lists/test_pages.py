"""The page of a list in each state: what it says, what it offers, and to which roles."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account
from accounts.roles import Role
from apikeys.actor import Actor
from credits.models import Pack, Wallet
from lists.lifecycle import Start, start_list
from lists.models import AddressList
from lists.models.states import ListState
from lists.results.downloads import MAX_XLSX_ROWS
from lists.uploads.services import create_list
from tests.conftest import make_member, signed_in
from tests.lists.pages import PAGE, show, state_of, url
from tests.lists.results_factory import make_list, make_ready_list, set_state

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ACTIONS = ("column", "encoding", "sample", "start", "pause", "resume", "finish", "cancel", "delete")


def make_started(account: Account, state: ListState, **fields: object) -> AddressList:
    address_list = make_ready_list(account)
    set_state(address_list, ListState.READY, sandbox_addresses=0)
    start_list(address_list=address_list, start=Start(), actor=None)
    set_state(address_list, state, **fields)
    return address_list


MOVING = {ListState.QUEUED, ListState.RUNNING, ListState.RECHECKING}
OFFERED = {
    ListState.UPLOADING: {"delete"},
    ListState.PARSING: {"delete"},
    ListState.READY: {"start", "column", "delete"},
    ListState.PAUSED: {"resume", "cancel", "delete", "download"},
    **{state: {"pause", "cancel", "delete"} for state in MOVING},
    ListState.RECHECKING: {"pause", "finish", "delete", "download"},
    ListState.COMPLETED: {"download", "delete"},
    ListState.CANCELED: {"download", "delete"},
    ListState.FAILED: {"download", "delete"},
    ListState.EXPIRED: {"delete"},
}


@pytest.mark.parametrize("state", ListState)
def test_page_offers_what_is_allowed(browser: Client, account: Account, state: ListState) -> None:
    address_list = make_list(account, state=state)
    page = show(browser, address_list)
    actions = ("download", *ACTIONS)
    assert {name for name in actions if url(address_list, f"{name}/") in page} == OFFERED[state]
    is_polled = url(address_list, f"progress/?phase={state}") in page
    assert is_polled == (state in MOVING | {ListState.UPLOADING, ListState.PARSING})


def test_list_that_is_checked_again_says_until_when_and_can_be_finished(
    browser: Client, account: Account
) -> None:
    address_list = make_started(account, ListState.RECHECKING, checked=4, unknown=4)
    assert "4 unknown addresses are checked again until" in show(browser, address_list)
    browser.post(url(address_list, "finish/"))
    assert state_of(address_list) == ListState.COMPLETED


def test_canceling_asks_first_and_releases_the_credits(browser: Client, account: Account) -> None:
    address_list = make_started(account, ListState.RUNNING)
    question = browser.get(url(address_list, "cancel/")).content.decode()
    assert "Credits that the list didn't use return to your balance." in question
    assert state_of(address_list) == ListState.RUNNING
    browser.post(url(address_list, "cancel/"))
    assert state_of(address_list) == ListState.CANCELED
    assert Wallet.objects.get(account=account).held == 0


def test_deleting_asks_first_and_erases_the_list(browser: Client, account: Account) -> None:
    address_list = make_started(account, ListState.RUNNING)
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
    assert state_of(address_list) == ListState.COMPLETED


def test_progress_is_a_fragment_until_the_phase_changes(browser: Client, account: Account) -> None:
    address_list = make_started(account, ListState.RUNNING, checked=2, deliverable=2)
    page = show(browser, address_list)
    # To refresh without JavaScript.
    assert "<noscript><p><a href=" in page
    assert "http-equiv" not in page
    fragment = browser.get(url(address_list, "progress/?phase=running")).content.decode()
    assert "2 of 4 addresses checked" in fragment
    assert "data-poll-again" in fragment
    assert "<html" not in fragment
    set_state(address_list, ListState.COMPLETED)
    fragment = browser.get(url(address_list, "progress/?phase=running")).content.decode()
    assert "data-reload" in fragment


def test_list_that_could_not_start_says_why(browser: Client, account: Account) -> None:
    address_list, why = make_ready_list(account), "Your balance is too low."
    set_state(address_list, ListState.READY, error_code="x", error_message=why)
    assert why in show(browser, address_list)


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER])
def test_completed_list_can_be_renamed_and_run_again(account: Account, role: Role) -> None:
    address_list = make_list(account)
    page = show(signed_in(make_member(account, role)), address_list)
    for action in ("rename", "run-again"):
        assert (url(address_list, f"{action}/") in page) == (role == Role.DEVELOPER)


def test_list_beyond_the_balance_offers_a_pack(browser: Client, account: Account) -> None:
    address_list = make_ready_list(account)
    set_state(address_list, ListState.READY, sandbox_addresses=0)
    assert "Up to <strong>4</strong> of your" in show(browser, address_list)
    Wallet.objects.filter(account=account).update(balance=1)
    page = show(browser, address_list)
    pack = Pack.objects.get(credits=1_000)
    assert "You need 3 more credits." in page
    assert f"/credits/packs/{pack.public_id}/?next={url(address_list)}" in page
    assert url(address_list, "start/") not in page
    refused = browser.post(url(address_list, "start/"), follow=True)
    assert b"Your balance doesn&#x27;t cover the list." in refused.content
    developer = signed_in(make_member(account, Role.DEVELOPER))
    page = show(developer, address_list)
    assert "Ask an owner, admin, or billing member to buy credits." in page
    assert "/credits/packs/" not in page


def test_encoding_is_chosen_if_it_is_not_certain(browser: Client, account: Account) -> None:
    text = "name,email\nZoë,zoe@shop.example\n"
    assert "Encoding of the file" not in show(browser, make_ready_list(account, text.encode()))
    address_list = make_ready_list(account, text.encode("cp1252"))
    assert "Encoding of the file" in show(browser, address_list)
    path = url(address_list, "encoding/")
    page = browser.post(path, {"encoding": "rot13"}, follow=True).content.decode()
    assert "This encoding is unknown." in page
    assert state_of(address_list) == ListState.READY
    browser.post(path, {"encoding": "mac-roman"})
    assert state_of(address_list) == ListState.PARSING
    assert address_list.encoding == "mac-roman"


def test_addresses_among_other_text_are_offered(browser: Client, account: Account) -> None:
    rows = "Joe <joe@shop.example>\nJane <jane@shop.example>\njim@shop.example\n"
    address_list = make_ready_list(account, f"email\n{rows}".encode())
    assert "2 cells have an address among other text" in show(browser, address_list)
    browser.post(url(address_list, "column/"), {"column": "0", "extract": "on"})
    assert state_of(address_list) == ListState.PARSING
    assert address_list.extracts_addresses
    assert not address_list.starts_when_ready


def test_results_have_reasons_and_say_why_no_row_is_safe(browser: Client, account: Account) -> None:
    address_list = make_list(account)
    why = "No mailbox was asked, so no row is marked safe to send. Use Deliverable."
    set_state(address_list, ListState.COMPLETED, reasons={"domain_not_found": 3})
    page = show(browser, address_list)
    assert "Remove them. They would bounce." in page
    assert why in page
    assert 'value="safe"' not in page
    set_state(address_list, ListState.COMPLETED, safe=2)
    page = show(browser, address_list)
    assert why not in page
    assert 'value="safe"' in page


def test_reader_sees_the_reasons_but_no_domains(account: Account) -> None:
    address_list = make_list(account)
    typos = {"gmial.com": {"count": 3, "suggestion": "gmail.com"}}
    set_state(address_list, ListState.COMPLETED, reasons={"possible_typo": 3}, typos=typos)
    page = show(signed_in(make_member(account, Role.VIEWER)), address_list)
    assert "Use the suggestion" in page
    assert "gmial.com" not in page


DOWNLOAD = {"format": "csv", "filter": "all"}


def test_download_has_the_chosen_rows_and_columns(browser: Client, account: Account) -> None:
    address_list = make_list(account)
    path = url(address_list, "download/")
    for wanted, rows in (("all", 7), ("safe", 2), ("risky", 1), ("unknown", 1)):
        response = browser.get(path, {"format": "jsonl", "filter": wanted})
        name = f"{address_list.name}-{wanted}.jsonl".replace("-all", "-results")
        assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert response.getvalue().count(b"\n") == rows
    response = browser.get(path, {**DOWNLOAD, "columns": ["canonical", "mx.provider"]})
    assert response.getvalue().split(b"\r\n")[0].endswith(b",ev_canonical,ev_mx_provider")


def test_download_can_be_an_excel_file(browser: Client, account: Account) -> None:
    address_list = make_list(account, state=ListState.PAUSED)
    response = browser.get(url(address_list, "download/"), DOWNLOAD | {"format": "xlsx"})
    assert response.headers["Content-Disposition"].endswith('-results.xlsx"')
    assert response.headers["X-List-State"] == "paused"
    assert response.getvalue().startswith(b"PK")
    AddressList.objects.update(rows=MAX_XLSX_ROWS)
    page = browser.get(url(address_list, "download/"), DOWNLOAD | {"format": "xlsx"}, follow=True)
    assert "Download CSV instead." in page.content.decode()


@pytest.mark.parametrize(
    ("line", "downloaded"),
    [
        ("name;email", "name;email;ev_verdict"),
        ("name,email", "name,email,ev_verdict"),
        ("name\temail", "name,email,ev_verdict"),
    ],
)
def test_semicolons_are_kept(browser: Client, account: Account, line: str, downloaded: str) -> None:
    content = f"{line}\n{line.replace('name', 'Jane').replace('email', 'jane@sandbox.test')}\n"
    address_list = make_ready_list(account, content.encode())
    set_state(address_list, ListState.PAUSED, checked=1, unknown=1)
    response = browser.get(url(address_list, "download/"), DOWNLOAD)
    assert response.getvalue().decode().removeprefix("\ufeff").startswith(downloaded)


def test_malformed_download_or_one_of_a_running_list_leads_to_the_page(
    browser: Client, account: Account
) -> None:
    address_list = make_list(account)
    for form in ({}, {"format": "xml", "filter": "all"}, {"format": "csv"}):
        response = browser.get(url(address_list, "download/"), form)
        assert response.headers["Location"] == url(address_list)
    set_state(address_list, ListState.RUNNING)
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
