"""Erasure of one address from lists."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Account, AuditEntry, User
from apikeys.actor import Actor
from lists.deletion.retention import expire_lists
from lists.lifecycle import choose_column, choose_encoding
from lists.models import AddressList, ErasedAddress, ListAddress, ListChunk, ResultCounts
from lists.models.states import ListState
from lists.packing import RowKind, pack_lines, unpack_results
from lists.previews import StoredPreview
from lists.uploads.parsing import LeaseLost, _Parser
from lists.uploads.services import begin_parsing, create_list, store_part
from lists.uploads.sources import open_source
from runtime.database.leased_rows import Heartbeat
from tests.lists.uploads import kinds_of, parse, rows_of, upload, upload_and_parse
from validation.erasure import count_rows, erase_address
from validation.presenters.retention import erasure_summary

pytestmark = pytest.mark.django_db

TABLE = "name,email\nJoe,joe@shop.com\nJane,jane@shop.com\nJ,JANE@shop.com\nJim,jim@shop.com\n"


def erase(account: Account | None, actor: User, email: str = "Jane@Shop.com") -> int:
    return erase_address(email=email, account=account, actor=actor)


def set_results(*verdicts: str) -> None:
    results = [{"verdict": verdict, "reason": f"{verdict}_reason"} for verdict in verdicts]
    unknown = verdicts.count("unknown")
    ListChunk.objects.update(results=pack_lines(results), unknown=unknown, is_done=True)


def test_rows_with_the_address_are_emptied_with_their_results_and_in_the_preview(
    account: Account, owner: User
) -> None:
    parsed = upload_and_parse(account, TABLE)
    set_results("deliverable", "unknown", "risky")
    assert erase(account, owner) == 2
    (rows,) = rows_of(parsed)
    assert rows.cells == [["Joe", "joe@shop.com"], [], [], ["Jim", "jim@shop.com"]]
    assert kinds_of(parsed) == [RowKind.ADDRESS, RowKind.EMPTY, RowKind.EMPTY, RowKind.ADDRESS]
    assert rows.originals == []
    chunk = ListChunk.objects.get()
    verdicts = [result["verdict"] for result in unpack_results(bytes(chunk.results))]
    assert (verdicts, chunk.unknown) == (["deliverable", "risky"], 0)
    assert ListAddress.objects.count() == 2
    assert StoredPreview.of(AddressList.objects.get()).first_rows == rows.cells


def test_counts_of_results_no_longer_include_the_address(account: Account, owner: User) -> None:
    parsed = upload_and_parse(account, TABLE)
    typo = {"domain": "shop.com", "did_you_mean": "jane@shopify.com", "safe_to_send": True}
    results = [{"reason": "possible_typo", "verdict": "risky", **typo}] * 3
    ListChunk.objects.update(results=pack_lines(results), is_done=True)
    counts = ResultCounts()
    for result in results:
        counts.add(result)
    AddressList.objects.update(**counts.apply_to(parsed))
    assert erase(account, owner) == 2
    parsed.refresh_from_db()
    # The second row with the address is a duplicate.
    assert (parsed.safe, parsed.reasons) == (2, {"possible_typo": 2})
    assert parsed.typos == {"shop.com": {"count": 2, "suggestion": "shopify.com"}}


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


def test_alias_is_erased_without_others_of_its_mailbox(account: Account, owner: User) -> None:
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


def test_account_whose_list_lost_rows_sees_it_in_the_log(account: Account, staff: User) -> None:
    upload_and_parse(account, TABLE)
    assert erase(None, staff) == 2
    entries = AuditEntry.objects.filter(action="address.erased")
    assert {entry.account for entry in entries} == {None, account}


class TestListsThatAreParsedLater:
    def test_rows_of_an_upload_are_emptied_later(self, account: Account, owner: User) -> None:
        upload(account, TABLE)
        erase(account, owner)
        parsed = parse()
        (rows,) = rows_of(parsed)
        assert rows.cells == [["Joe", "joe@shop.com"], [], [], ["Jim", "jim@shop.com"]]
        assert (parsed.addresses, parsed.empty, parsed.duplicates) == (2, 2, 0)
        preview = StoredPreview.of(parsed)
        assert preview.first_rows[1:3] == [[], []]
        assert ListAddress.objects.count() == 2

    def test_rows_of_a_part_that_is_late_are_emptied(self, account: Account, owner: User) -> None:
        uploading = create_list(actor=Actor(account))
        erase(account, owner)
        store_part(address_list=uploading, number=1, content=TABLE.encode())
        begin_parsing(address_list=uploading)
        assert parse().addresses == 2

    def test_process_that_parses_the_list_starts_over(self, account: Account, owner: User) -> None:
        upload(account, TABLE)
        claimed = AddressList.objects.claim()
        assert claimed is not None
        with open_source(claimed) as source:
            parser = _Parser(claimed, Heartbeat(claimed), source)
            erase(account, owner)
            with pytest.raises(LeaseLost):
                parser.run()
        assert not ListChunk.objects.exists()
        assert parse().addresses == 2

    def test_another_column_is_searched_when_chosen(self, account: Account, owner: User) -> None:
        ready = upload_and_parse(account, "joe@shop.com,jane@shop.com,x\n", column=0)
        erase(account, owner)
        choose_column(address_list=ready, column=1, actor=None)
        assert parse().addresses == 0

    def test_address_is_erased_when_the_file_is_read_again_with_another_encoding(
        self, account: Account, owner: User
    ) -> None:
        rows = "Łukasz,jane@shop.com\nJoe,joe@shop.com\n".encode("cp1250")
        ready = upload_and_parse(account, rows, encoding="cp1252")
        erase(account, owner)
        choose_encoding(address_list=ready, encoding="cp1250", actor=None)
        assert rows_of(parse())[0].cells == [[], ["Joe", "joe@shop.com"]]

    def test_extracted_address_is_erased(self, account: Account, owner: User) -> None:
        text = "Jane <jane@shop.com>\njoe@shop.com\n"
        ready = upload_and_parse(account, text, extracts_addresses=True)
        erase(account, owner)
        assert rows_of(ready)[0].cells == [[], ["joe@shop.com"]]
        upload(account, text, extracts_addresses=True)
        erase(account, owner)
        assert parse().addresses == 1

    def test_erasure_in_all_accounts_holds_for_all(self, account: Account, owner: User) -> None:
        upload(account, TABLE)
        erase(None, owner)
        assert parse().addresses == 2

    def test_other_accounts_keep_the_address(self, stranger: User, owner: User) -> None:
        theirs = stranger.memberships.get().account
        upload(theirs, TABLE)
        erase(owner.memberships.get().account, owner)
        assert parse().addresses == 3

    def test_list_that_is_uploaded_after_the_erasure_keeps_the_address(
        self, account: Account, owner: User
    ) -> None:
        erase(account, owner)
        with time_machine.travel(timezone.now() + timedelta(minutes=1)):
            assert upload_and_parse(account, TABLE).addresses == 3

    def test_erasure_is_offered_while_a_list_is_not_parsed(self, account: Account) -> None:
        upload(account, TABLE)
        rows = count_rows(email="jane@shop.com", account=account)
        assert (rows.total, rows.readable_lists, rows.is_possible) == (0, 1, True)
        assert erasure_summary(account, rows) == (
            "The Shop has no data about this address. We may still read 1 list, or read it again "
            "with another column: if the address is there, its rows are emptied then."
        )

    def test_erasure_is_offered_while_another_column_can_be_chosen(
        self, account: Account, owner: User
    ) -> None:
        parsed = upload_and_parse(account, "work,private\nboss@shop.com,jane@other.com\n")
        rows = count_rows(email="jane@other.com", account=account)
        assert (rows.total, rows.readable_lists, rows.is_possible) == (0, 1, True)
        erase(account, owner, "jane@other.com")
        choose_column(address_list=parsed, column=1, actor=None)
        assert rows_of(parse())[0].cells == [[]]

    def test_started_list_has_no_other_column_to_read(self, account: Account) -> None:
        upload_and_parse(account, "jane@shop.com\n")
        AddressList.objects.update(state=ListState.QUEUED)
        rows = count_rows(email="jane@other.com", account=account)
        assert (rows.readable_lists, rows.is_possible) == (0, False)

    @pytest.mark.parametrize(
        ("state", "kept"), [(ListState.READY, True), (ListState.RUNNING, False)]
    )
    def test_digest_is_kept_while_a_list_can_be_parsed(
        self, account: Account, owner: User, state: ListState, kept: bool
    ) -> None:
        upload_and_parse(account, TABLE)
        AddressList.objects.update(state=state)
        erase(account, owner)
        with time_machine.travel(timezone.now() + timedelta(days=2)):
            expire_lists()
        assert ErasedAddress.objects.exists() is kept
