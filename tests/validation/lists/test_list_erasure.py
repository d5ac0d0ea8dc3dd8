"""Erasure of one address from lists."""

import pytest

from accounts.models import Account, AuditEntry, User
from tests.validation.lists.uploads import kinds_of, rows_of, upload_and_parse
from validation.erasure import count_rows, erase_address
from validation.lists.payloads import RowKind, pack_results, unpack_results
from validation.lists.uploads.previews import StoredPreview
from validation.models import AddressList, ListAddress, ListChunk

pytestmark = pytest.mark.django_db

TABLE = "name,email\nJoe,joe@shop.com\nJane,jane@shop.com\nJ,JANE@shop.com\nJim,jim@shop.com\n"


def erase(account: Account | None, actor: User, email: str = "Jane@Shop.com") -> int:
    return erase_address(email=email, account=account, actor=actor, ip=None)


def set_results(*verdicts: str) -> None:
    results = [{"verdict": verdict} for verdict in verdicts]
    unknown = verdicts.count("unknown")
    ListChunk.objects.update(results=pack_results(results), unknown=unknown, is_done=True)


def test_rows_with_the_address_are_emptied_with_their_results(
    account: Account, owner: User
) -> None:
    parsed = upload_and_parse(account, TABLE)
    set_results("deliverable", "unknown", "risky")
    assert erase(account, owner) == 2
    (rows,) = rows_of(parsed)
    assert rows.cells == [["Joe", "joe@shop.com"], [], [], ["Jim", "jim@shop.com"]]
    assert kinds_of(parsed) == [
        RowKind.ADDRESS,
        RowKind.EMPTY,
        RowKind.EMPTY,
        RowKind.ADDRESS,
    ]
    assert rows.originals == []
    chunk = ListChunk.objects.get()
    verdicts = [result["verdict"] for result in unpack_results(bytes(chunk.results))]
    assert (verdicts, chunk.unknown) == (["deliverable", "risky"], 0)
    assert ListAddress.objects.count() == 2


def test_preview_no_longer_shows_the_rows(account: Account, owner: User) -> None:
    upload_and_parse(account, TABLE)
    erase(account, owner)
    preview = StoredPreview.unpack(bytes(AddressList.objects.get().preview))
    assert preview.first_rows == [["Joe", "joe@shop.com"], [], [], ["Jim", "jim@shop.com"]]


def test_process_that_checks_the_chunk_has_to_start_over(account: Account, owner: User) -> None:
    upload_and_parse(account, TABLE)
    claimed = ListChunk.objects.claim()
    assert claimed is not None
    erase(account, owner)
    assert not claimed.release(results=b"x", is_done=True)
    assert ListChunk.objects.get().results == b""


def test_address_is_found_in_later_chunks(account: Account, owner: User) -> None:
    lines = [f"user{number}@shop.com" for number in range(1001)] + ["jane@shop.com"] * 2
    parsed = upload_and_parse(account, "\n".join(lines), dedupe="off")
    assert erase(account, owner) == 2
    first, second = rows_of(parsed)
    assert (first.cells[999], second.cells) == (
        ["user999@shop.com"],
        [["user1000@shop.com"], [], []],
    )


def test_alias_is_erased_without_the_other_addresses_of_its_mailbox(
    account: Account, owner: User
) -> None:
    lines = "jdoe@gmail.com\nj.doe+a@gmail.com\njdoe+b@gmail.com\n"
    parsed = upload_and_parse(account, lines, dedupe="mailbox")
    assert erase(account, owner, "J.Doe+A@gmail.com") == 1
    (rows,) = rows_of(parsed)
    assert rows.cells == [["jdoe@gmail.com"], [], ["jdoe+b@gmail.com"]]
    assert rows.originals == [0]
    assert erase(account, owner, "jdoe+b@gmail.com") == 1


def test_lists_of_other_accounts_stay(account: Account, owner: User, stranger: User) -> None:
    theirs = stranger.memberships.get().account
    upload_and_parse(theirs, TABLE)
    assert count_rows(email="jane@shop.com", account=account).total == 0
    assert erase(account, owner) == 0
    assert count_rows(email="jane@shop.com", account=None).lists == 1


def test_account_whose_list_lost_rows_sees_it_in_its_audit_log(
    account: Account, staff: User
) -> None:
    upload_and_parse(account, TABLE)
    assert erase(None, staff) == 2
    entries = AuditEntry.objects.filter(action="address.erased")
    assert {entry.account for entry in entries} == {None, account}
