"""Lists that repeat the rows of an earlier one."""

from typing import Any

import pytest

from accounts.models import Account
from apikeys.actor import Actor
from credits.models import Plan
from lists.lifecycle import cancel_list, delete_list
from lists.models import AddressList, ErasedAddress, ListUpload
from lists.models.states import ListState
from lists.uploads.services import create_list, rerun_list
from tests.lists.results_factory import CSV, make_list, make_ready_list, set_state
from tests.lists.runs import work
from tests.lists.uploads import kinds_of, parse, rows_of
from tests.support.api_client import ApiClient, error_code, refusal
from validation.addresses import address_hash

pytestmark = pytest.mark.django_db


def rerun(caller: ApiClient, address_list: AddressList, body: Any = None, **headers: str) -> Any:
    path = f"/v1/lists/{address_list.public_id}/rerun"
    return caller.send_json("POST", path, body, **headers)


def test_rows_and_options_are_those_of_the_other_list(caller: ApiClient, account: Account) -> None:
    old = make_list(account, name="Customers", dedupe="mailbox", metadata={"a": "b"}, column=1)
    response = rerun(caller, old)
    assert response.status_code == 201, response.content
    document = response.json()
    assert response.headers["Location"] == f"/v1/lists/{document['id']}"
    assert (document["state"], document["name"]) == ("parsing", "Customers")
    new = parse()
    assert (new.public_id, new.state, new.rerun_of) == (document["id"], ListState.READY, old)
    assert (new.dedupe, new.metadata, new.column) == ("mailbox", {"a": "b"}, 1)
    for name in ("rows", "empty", "not_address", "duplicates", "addresses", "bytes", "has_header"):
        assert getattr(new, name) == getattr(old, name), name
    assert kinds_of(new) == kinds_of(old)
    assert [rows.cells for rows in rows_of(new)] == [rows.cells for rows in rows_of(old)]
    # From here on, it is a list like any other.
    assert caller.call("POST", f"{response.headers['Location']}/start").status_code == 200
    delete_list(address_list=old, actor=Actor(account))
    work()
    download = caller.get(f"{response.headers['Location']}/download")
    assert b"name,email,note,,,ev_verdict" in b"".join(download.streaming_content)


def test_name_and_metadata_can_differ(caller: ApiClient, account: Account) -> None:
    old = make_list(account, name="Old", metadata={"a": "b"})
    document = rerun(caller, old, {"name": "New", "metadata": {"c": "d"}}).json()
    assert (document["name"], document["metadata"]) == ("New", {"c": "d"})
    response = rerun(caller, old, {"name": "x" * 101})
    assert (response.status_code, error_code(response)) == (400, "invalid_field")
    assert error_code(rerun(caller, old, {"column": 1})) == "unknown_field"
    response = rerun(caller, old, {"column": 10**20}, Idempotency_Key="a b")
    assert refusal(response) == (400, "invalid_field", "Idempotency-Key")


def test_retry_with_the_same_key_creates_one_list(caller: ApiClient, account: Account) -> None:
    old = make_list(account)
    first, again = (rerun(caller, old, Idempotency_Key="again") for _ in range(2))
    assert (again.status_code, again.content) == (201, first.content)
    assert rerun(caller, make_list(account), Idempotency_Key="again").status_code == 422
    assert rerun(caller, old).json()["id"] != first.json()["id"]


def test_list_without_rows_is_refused(caller: ApiClient, account: Account) -> None:
    old = make_list(account)
    set_state(old, ListState.PARSING)
    assert error_code(rerun(caller, old)) == "invalid_state"
    set_state(old, ListState.EXPIRED, expires_at=old.created_at)
    assert error_code(rerun(caller, old)) == "list_expired"
    assert AddressList.objects.count() == 1
    canceled = create_list(actor=Actor(account))
    cancel_list(address_list=canceled, actor=None)
    assert error_code(rerun(caller, canceled)) == "invalid_state"


def test_list_fails_if_the_other_is_deleted_before_it_is_read(account: Account) -> None:
    old = make_list(account)
    rerun_list(address_list=old, actor=Actor(account))
    delete_list(address_list=old, actor=Actor(account))
    failed = parse()
    assert (failed.state, failed.error_code) == (ListState.FAILED, "list_deleted")
    assert failed.error_message == (
        "The list to run again was deleted or has expired. Upload its file as a new list."
    )


def test_list_fails_if_rows_of_the_other_are_deleted_while_it_is_read(account: Account) -> None:
    old = make_ready_list(account, b"email\n" + b"jane@shop.example\n" * 1_500)
    rerun_list(address_list=old, actor=Actor(account))
    last = old.chunks.order_by("-first_row").first()
    assert last is not None
    last.delete()
    assert parse().error_code == "list_deleted"


def test_limits_are_those_of_an_upload(caller: ApiClient, account: Account) -> None:
    old = make_list(account)
    Plan.objects.update(list_bytes=len(CSV) - 1)
    assert error_code(rerun(caller, old)) == "list_too_large"
    Plan.objects.update(list_bytes=3 * len(CSV), list_addresses=4)
    for _ in range(2):
        assert rerun(caller, old).status_code == 201
    assert list(ListUpload.objects.values_list("bytes", "addresses")) == [(len(CSV), 4)] * 3
    # Three times four addresses were uploaded today.
    response = rerun(caller, old)
    assert (response.status_code, error_code(response)) == (429, "rate_limit_exceeded")


def test_address_is_not_copied_while_it_is_erased(account: Account) -> None:
    old = make_list(account)
    # The erasure has begun, but the rows of the other list aren't emptied yet.
    ErasedAddress.objects.create(account=account, digest=address_hash("risky@sandbox.test"))
    rerun_list(address_list=old, actor=Actor(account))
    assert rows_of(parse())[0].cells[1] == []
