"""Deleting a list: it's unreachable immediately, and erased even if the process is killed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection

from accounts.models import Account
from apikeys.actor import Actor
from lists.deletion import batch_delete
from lists.lifecycle import cancel_list, delete_list
from lists.models import AddressList, DomainBlock, ListAddress, ListChunk, ListDomain, ListPart
from lists.models.states import ListState
from lists.processing.running import work_once
from tests.lists.factory import make_list, make_started_list
from tests.lists.results_factory import set_state
from tests.lists.runs import work
from tests.lists.uploads import upload, upload_and_parse
from tests.support.api_client import ApiClient
from tests.support.fresh_database import run_and_kill

EMAILS = [f"customer{number}@shop{number % 300}.com" for number in range(3_000)]
MARKER = "what the customer noted"
FACTS = (ListAddress, ListDomain, DomainBlock)


def assert_all_erased() -> None:
    models = (ListPart, ListChunk, *FACTS)
    assert {
        model.__name__: model.objects.count() for model in models if model.objects.exists()
    } == {}
    assert not AddressList.deleted.exists()


def test_small_list_is_erased_in_the_request(caller: ApiClient, account: Account) -> None:
    parsed = upload_and_parse(account, "\n".join(EMAILS[:100]))
    response = caller.call("DELETE", f"/v1/lists/{parsed.public_id}")
    assert response.json() == {"id": parsed.public_id, "deleted": True}
    assert not AddressList.objects.exists()
    assert_all_erased()


def test_rest_of_a_large_list_is_erased_by_a_list_process(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = upload_and_parse(account, "\n".join(EMAILS))
    # As if a list was too large to erase it in time.
    monkeypatch.setattr("lists.lifecycle._FACTS_SECONDS", -1)
    delete_list(address_list=parsed, actor=Actor(account))
    assert not AddressList.objects.exists()
    assert not ListChunk.objects.exists()
    assert ListAddress.objects.exists()
    work()
    assert_all_erased()


@pytest.mark.anywhere
def test_deleted_list_is_unreachable_before_its_rows(caller: ApiClient, account: Account) -> None:
    parsed = upload_and_parse(account, "a@shop.com\n")
    set_state(parsed, ListState.COMPLETED)
    batch_delete.hide_list(parsed)
    for path in ("", "/preview", "/results", "/download"):
        assert caller.get(f"/v1/lists/{parsed.public_id}{path}").status_code == 404, path
    assert caller.get("/v1/lists").json()["data"] == []
    assert caller.call("DELETE", f"/v1/lists/{parsed.public_id}").status_code == 404
    assert ListChunk.objects.exists()


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite only")
def test_database_file_contains_nothing_of_deleted_lists(shop: Account) -> None:
    lists = []
    for number in range(60):
        metadata = {"note": f"{MARKER} {number} " * (number % 40 + 1)}
        lists.append(make_list(shop, EMAILS[:1], name=f"List {number}", metadata=metadata))
    # Waits for a list process.
    batch_delete.hide_list(lists.pop())
    hidden = AddressList.deleted.get()
    assert (hidden.name, hidden.metadata) == ("", {})
    for address_list in lists[::2] + lists[1::2]:
        # Rows that change their length move.
        AddressList.objects.filter(pk=address_list.pk).update(error_message="x" * 250)
        delete_list(address_list=address_list, actor=Actor(shop))
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA secure_delete").fetchone() == (1,)
    connection.close()
    file = Path(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        written = file.read_bytes() + file.with_name(f"{file.name}-wal").read_bytes()
    assert b"List 7 (lst_" in written, "The audit log names deleted lists."
    assert MARKER.encode() not in written


def test_name_and_metadata_are_cleared_with_lists_of_an_erased_account(account: Account) -> None:
    make_list(account, EMAILS[:1], metadata={"note": MARKER})
    batch_delete.hide_lists(AddressList.objects.filter(account=account))
    hidden = AddressList.deleted.get()
    assert (hidden.name, hidden.metadata) == ("", {})


def test_deleted_list_is_not_worked_on(account: Account) -> None:
    batch_delete.hide_list(upload(account, "a@shop.com\n"))
    batch_delete.hide_list(make_started_list(account, EMAILS[:10]))
    # Their leases are those of the requests that delete them.
    assert not work_once()


def test_list_that_is_deleted_while_it_is_checked_is_no_error(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    address_list = make_started_list(account, ["jane@reserved.test"])
    check = "lists.processing.running.check_chunk"

    def delete_and_check(address_list: AddressList, chunk: ListChunk) -> None:
        delete_list(address_list=address_list, actor=Actor(account))
        AddressList.objects.lock(address_list)

    monkeypatch.setattr(check, delete_and_check)
    ListDomain.objects.all().delete()
    DomainBlock.objects.all().delete()
    assert work_once()
    assert address_list.account.lists.count() == 0
    assert_all_erased()


@pytest.mark.parametrize("state", [ListState.READY, ListState.RUNNING, ListState.PAUSED])
def test_canceled_list_leaves_no_domains(account: Account, state: ListState) -> None:
    address_list = make_list(account, EMAILS[:20])
    set_state(address_list, state)
    cancel_list(address_list=address_list, actor=None)
    work()
    assert not ListDomain.objects.exists()
    assert not DomainBlock.objects.exists()
    assert ListChunk.objects.count() == 2


def test_canceled_upload_leaves_no_parts(account: Account) -> None:
    uploaded = upload(account, "a@shop.com\n")
    cancel_list(address_list=uploaded, actor=None)
    work()
    assert not ListPart.objects.exists()
    assert AddressList.objects.get().state == ListState.CANCELED


def test_deletion_that_was_killed_is_completed_by_a_list_process(shop: Account) -> None:
    address_list = make_list(shop, EMAILS, chunk_rows=10)
    run_and_kill(
        lambda: delete_list(address_list=address_list, actor=Actor(shop)),
        when=lambda: ListChunk.objects.count() < 300,
    )
    assert 0 < ListChunk.objects.count() < 300
    assert not AddressList.objects.exists()
    AddressList.deleted.update(leased_until=None)
    work()
    assert_all_erased()
