"""What parsing stores of a list: rows, duplicates, domains, counts and the preview."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from accounts.models import Account
from apikeys.actor import Actor
from lists.lifecycle import choose_column, delete_list
from lists.models import AddressList, ListAddress, ListChunk, ListDomain, ListPart
from lists.models.domains import BLOCK_DOMAINS
from lists.models.states import ListState
from lists.packing import RowKind, pack_lines, unpack_results
from lists.previews import StoredPreview
from lists.uploads.parsing import _Parser, parse_list
from lists.uploads.sources import Table, open_source
from runtime.database.leased_rows import Heartbeat
from runtime.encryption import encrypt_bytes
from tests.lists.files.spreadsheets import build_xlsx, rows_xml
from tests.lists.uploads import kinds_of, parse, rows_of, upload, upload_and_parse

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

TABLE = "name,email\nJane,jane@shop.com\nJoe,JANE@shop.com\nJim,unknown\nJo,\nJill,jill@other.com\n"
ADDRESS, DUPLICATE = RowKind.ADDRESS, RowKind.DUPLICATE


def preview_of(address_list: AddressList) -> StoredPreview:
    return StoredPreview.of(address_list)


def test_rows_are_stored_without_the_header_counted_and_shown(account: Account) -> None:
    parsed = upload_and_parse(account, TABLE)
    assert (parsed.state, parsed.column, parsed.has_header) == (ListState.READY, 1, True)
    (rows,) = rows_of(parsed)
    assert rows.cells[0] == ["Jane", "jane@shop.com"]
    assert kinds_of(parsed) == [ADDRESS, DUPLICATE, RowKind.NOT_ADDRESS, RowKind.EMPTY, ADDRESS]
    assert rows.originals == [0]
    counts = (parsed.rows, parsed.empty, parsed.not_address, parsed.duplicates, parsed.addresses)
    assert counts == (5, 1, 1, 1, 2)
    preview = preview_of(parsed)
    assert preview.file.header == ["name", "email"]
    assert (preview.file.kind, preview.file.delimiter) == ("text", ",")
    assert preview.guessed_column == 1
    assert preview.columns[1].evidence == "75% of 4 cells have an address"
    assert preview.first_rows[4] == ["Jill", "jill@other.com"]
    assert preview.top_domains == [("shop.com", 2), ("other.com", 1)]


def test_parts_are_deleted_and_nothing_is_stored_in_plain_text(account: Account) -> None:
    upload(account, TABLE)
    assert b"jane" not in bytes(ListPart.objects.get().content)
    parsed = parse()
    assert not ListPart.objects.exists()
    assert b"jane" not in bytes(ListChunk.objects.get().rows) + bytes(parsed.parsed.preview)


@pytest.mark.parametrize(
    ("content", "options", "cells"),
    [
        ("a@shop.com\nb@shop.com\n", {}, [["a@shop.com"], ["b@shop.com"]]),
        ("a@shop.com\nb@shop.com\n", {"has_header": True}, [["b@shop.com"]]),
        ("1;a@shop.com\n", {"delimiter": ";"}, [["1", "a@shop.com"]]),
        ("a@shop.com\tx\n", {"content_type": "text/tab-separated-values"}, [["a@shop.com", "x"]]),
        (
            "name,a@shop.com\nJané,b@shop.com".encode("cp1252"),
            {"content_type": "text/csv; charset=windows-1252"},
            [["name", "a@shop.com"], ["Jané", "b@shop.com"]],
        ),
        (build_xlsx({"Sheet": rows_xml([["email"], ["a@shop.com"]])}), {}, [["a@shop.com"]]),
        (
            orjson.dumps(["email", "a\n@shop.com", ""]),
            {"content_type": "application/json"},
            [["email"], ["a\n@shop.com"], [""]],
        ),
    ],
)
def test_every_format_is_read(
    account: Account, content: bytes | str, options: dict[str, object], cells: list[list[str]]
) -> None:
    parsed = upload_and_parse(account, content, **options)
    assert parsed.error_message == ""
    assert [row for rows in rows_of(parsed) for row in rows.cells] == cells


def test_customer_can_choose_the_encoding(account: Account) -> None:
    parsed = upload_and_parse(account, "a@shop.com,Żaneta\n".encode("cp1250"), encoding="cp1250")
    assert rows_of(parsed)[0].cells == [["a@shop.com", "Żaneta"]]
    assert preview_of(parsed).file.encoding_confidence == "likely"


def test_preview_of_an_earlier_release_is_read(account: Account) -> None:
    parsed = upload_and_parse(account, TABLE)
    fields = dict(unpack_results(parsed.parsed.preview)[0])
    del fields["file"]["encoding_confidence"]
    assert StoredPreview.unpack(pack_lines([fields])) == preview_of(parsed)


def test_column_that_the_file_does_not_have_fails(account: Account) -> None:
    parsed = upload_and_parse(account, TABLE, column=2)
    assert (parsed.state, parsed.error_code) == (ListState.FAILED, "column_not_found")
    assert "There is no column 2: the file has 2 columns, counted from 0." in parsed.error_message
    assert parsed.rows == 0
    # The header counts, and so do rows behind the first ones.
    assert upload_and_parse(account, "email,other\na@shop.com\n", column=1).addresses == 0
    late = upload_and_parse(account, "x;\n" * 1500 + "x;a@shop.com\n", column=1, delimiter=";")
    assert late.addresses == 1


def test_extracted_address_is_counted_and_the_cell_stays(account: Account) -> None:
    text = "Jane <jane@shop.com>\nJANE@shop.com\n"
    assert upload_and_parse(account, text).addresses == 2
    parsed = upload_and_parse(account, text, extracts_addresses=True)
    assert (parsed.addresses, parsed.duplicates, parsed.bad_syntax) == (1, 1, 0)
    assert rows_of(parsed)[0].cells[0] == ["Jane <jane@shop.com>"]
    assert preview_of(parsed).extractable == 1


def test_rows_are_counted_while_they_are_read(account: Account) -> None:
    seen = []

    def watch(chunks: Iterator[Table]) -> Iterator[Table]:
        for chunk in chunks:
            seen.append(AddressList.objects.get().rows)
            yield chunk

    upload(account, "x,a@shop.com,b@shop.com\n" * 2500)
    claimed = AddressList.objects.claim()
    assert claimed is not None
    with open_source(claimed) as source:
        source.chunks = watch(source.chunks)
        _Parser(claimed, Heartbeat(claimed), source).run()
    assert (seen, claimed.rows) == ([0, 1000, 2000], 2500)
    assert choose_column(address_list=claimed, column=2, actor=None).rows == 0
    assert parse().rows == 2500


def test_column_with_the_most_addresses_is_parsed_if_none_looks_right(account: Account) -> None:
    parsed = upload_and_parse(account, "x,y\n" * 8 + "x,a@shop.com\n")
    assert (parsed.column, parsed.not_address, parsed.addresses) == (1, 7, 1)
    assert preview_of(parsed).guessed_column is None


def test_duplicates_are_found_across_chunks(account: Account) -> None:
    emails = [f"user{number}@shop.com" for number in range(1500)]
    lines = [*emails, *(email.upper() for email in emails)]
    parsed = upload_and_parse(account, "\n".join(lines))
    assert (parsed.rows, parsed.addresses, parsed.duplicates) == (3000, 1500, 1500)
    first, second, third = rows_of(parsed)
    assert [len(rows.cells) for rows in (first, second, third)] == [1000, 1000, 1000]
    assert second.originals == list(range(500))
    assert third.originals == list(range(500, 1500))
    assert ListAddress.objects.count() == 1500


@pytest.mark.parametrize(
    ("dedupe", "kinds", "originals"),
    [
        ("address", [ADDRESS, ADDRESS, DUPLICATE], [0]),
        ("mailbox", [ADDRESS, DUPLICATE, DUPLICATE], [0, 0]),
        ("off", [ADDRESS, ADDRESS, ADDRESS], []),
    ],
)
def test_customer_chooses_what_a_duplicate_is(
    account: Account, dedupe: str, kinds: list[RowKind], originals: list[int]
) -> None:
    lines = "j.doe@gmail.com\njdoe+news@googlemail.com\nJ.Doe@gmail.com\n"
    parsed = upload_and_parse(account, lines, dedupe=dedupe)
    assert kinds_of(parsed) == kinds
    assert rows_of(parsed)[0].originals == originals
    assert parsed.addresses == kinds.count(ADDRESS)


def test_addresses_with_bad_syntax_are_checked_too(account: Account) -> None:
    parsed = upload_and_parse(account, "a@shop.com\na@@shop.com\n")
    assert (parsed.bad_syntax, parsed.addresses) == (1, 2)
    assert kinds_of(parsed) == [ADDRESS, ADDRESS]


def test_domains_are_stored_once_in_blocks_and_without_reserved_ones(account: Account) -> None:
    count = 2 * BLOCK_DOMAINS + 1
    lines = [f"a@shop{number}.com" for number in range(count)] * 3
    parsed = upload_and_parse(account, "\n".join([*lines, "deliverable@sandbox.test"]))
    domains = ListDomain.objects.filter(list=parsed)
    assert domains.count() == count
    in_blocks = [0] * BLOCK_DOMAINS + [1] * BLOCK_DOMAINS + [2]
    assert sorted(domains.values_list("block", flat=True)) == in_blocks
    assert [block.number for block in parsed.blocks.all()] == [0, 1, 2]
    assert parsed.domains == count
    assert parsed.sandbox_addresses == 1


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"%PDF-1.7", "pdf", "Copy its addresses"),
        (b"name,email\n", "no_rows", "The file is blank, or has only a header."),
        (b'a@shop.com,"x\n' + b"y\n" * 9, "unclosed_quote", "A quotation mark in line 1"),
    ],
)
def test_unreadable_file_fails_with_a_message_and_is_deleted(
    account: Account, content: bytes, code: str, message: str
) -> None:
    parsed = upload_and_parse(account, content)
    assert (parsed.state, parsed.error_code) == (ListState.FAILED, code)
    assert message in parsed.error_message
    assert not parsed.parts.exists() and not parsed.chunks.exists()
    assert parsed.finished_at is not None and parsed.expires_at is not None


def test_list_that_was_tried_too_often_fails(account: Account) -> None:
    upload(account, TABLE)
    AddressList.objects.update(attempts=5)
    parsed = parse()
    assert (parsed.state, parsed.error_code) == (ListState.FAILED, "parsing_failed")


def test_list_is_parsed_again_after_an_error_of_the_disk(account: Account) -> None:
    upload(account, TABLE)
    with override_settings(DATA_DIR="/dev/null/nowhere"), pytest.raises(OSError, match="nowhere"):
        parse()
    assert AddressList.objects.get().state == ListState.PARSING
    AddressList.objects.update(leased_until=None)
    assert parse().state == ListState.READY


def test_process_that_lost_its_lease_changes_nothing(account: Account) -> None:
    uploaded = upload(account, TABLE)
    late = AddressList.objects.claim()
    assert late is not None
    AddressList.objects.update(leased_until=timezone.now() + timedelta(minutes=1))
    parse_list(late)
    uploaded.refresh_from_db()
    assert uploaded.state == ListState.PARSING
    assert not ListChunk.objects.exists()


def test_list_that_is_deleted_before_its_file_is_read_is_left_alone(account: Account) -> None:
    uploaded = upload(account, TABLE)
    claimed = AddressList.objects.claim()
    assert claimed is not None
    is_deleted = False

    def delete_before(execute: Any, statement: str, *arguments: Any) -> Any:
        nonlocal is_deleted
        if '"content"' in statement and not is_deleted:
            is_deleted = True
            delete_list(address_list=uploaded, actor=Actor(account))
        return execute(statement, *arguments)

    with connection.execute_wrapper(delete_before):
        parse_list(claimed)
    assert is_deleted
    assert not AddressList.objects.exists()


def test_canceled_list_stays_canceled(account: Account) -> None:
    upload(account, TABLE)
    claimed = AddressList.objects.claim()
    assert claimed is not None
    assert AddressList.objects.get().change_state(ListState.CANCELED)
    parse_list(claimed)
    assert AddressList.objects.get().state == ListState.CANCELED
    assert not ListChunk.objects.exists()


def test_another_column_is_parsed_from_the_stored_rows(account: Account) -> None:
    emails = "".join(f"a{number}@shop.com,b@other.com\n" for number in range(1200))
    parsed = upload_and_parse(account, f"work,private\n{emails}")
    assert (parsed.addresses, parsed.column) == (1200, 0)
    assert parsed.change_state(ListState.PARSING, column=1)
    again = parse()
    assert (again.state, again.column, again.rows) == (ListState.READY, 1, 1200)
    assert (again.addresses, again.duplicates) == (1, 1199)
    assert ListDomain.objects.get().domain == "other.com"
    assert preview_of(again).file.header == ["work", "private"]
    assert [rows.cells[0][1] for rows in rows_of(again)] == ["b@other.com"] * 2


def test_parts_left_over_from_the_first_parsing_are_not_read_again(account: Account) -> None:
    uploaded = upload(account, "name,email\nJane,jane@shop.com\n")
    left_over = ListPart.objects.get(list=uploaded)
    first = parse()
    # As if the process that parsed it had not deleted all parts yet.
    left_over.content = encrypt_bytes(b"name,email\n")
    left_over.save()
    choose_column(address_list=first, column=0, actor=None)
    again = parse()
    assert (again.state, again.rows) == (ListState.READY, 1)
    assert [row for rows in rows_of(again) for row in rows.cells] == [["Jane", "jane@shop.com"]]
    assert not ListPart.objects.exists()
