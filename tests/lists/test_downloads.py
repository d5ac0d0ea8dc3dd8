"""GET /v1/lists/{id}/download: CSV and JSON Lines with the customer's rows and our results."""

import csv
import io
import json
import tracemalloc
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.utils import timezone
from python_calamine import CalamineWorkbook
from xlsxwriter import Workbook

from accounts.models import Account
from lists.models import AddressList, ListChunk
from lists.models.states import ListState
from lists.packing import pack_lines
from lists.results.downloads import (
    DEFAULT_COLUMNS,
    EXTRA_COLUMNS,
    MAX_XLSX_ROWS,
    Download,
    DownloadFormat,
    stream_download,
)
from lists.results.reading import ResultFilter
from lists.results.xlsx_stream import row_xml, stream_xlsx
from runtime.csv_download import Row
from tests.lists.results_factory import check, make_list, set_state
from tests.support.api_client import ApiClient, error_code, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

XLSX = "?format=xlsx"
OURS = [
    "ev_verdict",
    "ev_reason",
    "ev_score",
    "ev_safe_to_send",
    "ev_did_you_mean",
    "ev_normalized",
]


def download(caller: ApiClient, address_list: AddressList, query: str = "", **headers: str) -> Any:
    return caller.get(f"/v1/lists/{address_list.public_id}/download{query}", **headers)


def body(response: Any) -> bytes:
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def rows_of(response: Any) -> list[list[str]]:
    text = body(response).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


class TestCsv:
    def test_our_columns_follow_the_customers_in_every_row(
        self, caller: ApiClient, account: Account
    ) -> None:
        rows = rows_of(download(caller, make_list(account)))
        assert rows[0] == ["name", "email", "note", "", "", *OURS]
        assert rows[1] == [
            *("Doe, Jane", "deliverable@sandbox.test", 'says "hi"', "", ""),
            *("deliverable", "mailbox_accepted", "100", "true", "", "deliverable@sandbox.test"),
        ]
        assert {len(row) for row in rows} == {11}
        assert [row[5] for row in rows[1:]] == [
            *("deliverable", "risky", "", "", "deliverable", "unknown", "undeliverable")
        ]
        assert rows[5][2:5] == ["repeated", "and", "wide"]

    def test_formulas_are_escaped(self, caller: ApiClient, account: Account) -> None:
        content = (
            b"email,=cmd()\n=cmd()@sandbox.test,@SUM(1)\nrisky@sandbox.test, +A1\n"
            b"risky@sandbox.test,+49 170 1234567\n"
        )
        rows = rows_of(download(caller, make_list(account, content, has_header=True, column=0)))
        assert rows[0][:2] == ["email", "'=cmd()"]
        assert rows[1][:2] == ["'=cmd()@sandbox.test", "'@SUM(1)"]
        assert rows[2][1] == "' +A1"
        assert rows[3][1] == "+49 170 1234567"

    def test_formulas_can_be_kept(self, caller: ApiClient, account: Account) -> None:
        content = b"email,=cmd()\n=cmd()@sandbox.test,a;=1\n"
        made = make_list(account, content, has_header=True, column=0)
        header, row = rows_of(download(caller, made, "?formulas=keep"))
        assert header[:2] == ["email", "=cmd()"]
        assert row[:2] == ["=cmd()@sandbox.test", "a;=1"]
        assert row[2:] == rows_of(download(caller, made, "?formulas=defuse"))[1][2:]

    def test_cells_with_quotes_and_line_breaks_stay_the_same(
        self, caller: ApiClient, account: Account
    ) -> None:
        note = 'two\nlines, "quoted"; ünïcode 漢字'
        quoted = note.replace('"', '""')
        content = f'email,note\nrisky@sandbox.test,"{quoted}"\n'.encode()
        rows = rows_of(download(caller, make_list(account, content)))
        assert rows[1][:2] == ["risky@sandbox.test", note]

    def test_file_without_a_header_gets_one(self, caller: ApiClient, account: Account) -> None:
        rows = rows_of(download(caller, make_list(account, b"Jane,risky@sandbox.test\n")))
        assert rows[0] == ["column_1", "email", *OURS]
        assert len(rows) == 2

    def test_columns_adds_fields_of_the_result(self, caller: ApiClient, account: Account) -> None:
        made = make_list(account)
        query = "?columns=domain,checks.disposable,reasons,mx.provider,verdict"
        rows = rows_of(download(caller, made, query))
        assert rows[0][11:] == ["ev_domain", "ev_checks_disposable", "ev_reasons", "ev_mx_provider"]
        assert rows[7][11:] == ["sandbox.test", "false", "mailbox_not_found", ""]
        assert rows[3][11:] == [""] * 4
        columns = [*DEFAULT_COLUMNS, *EXTRA_COLUMNS]
        rows = rows_of(download(caller, made, f"?columns={','.join(columns)}"))
        assert {len(row) for row in rows} == {5 + len(columns)}
        for column in columns:
            value: Any = check("invalid_syntax@sandbox.test")
            for name in column.split("."):
                assert name in value, column
                value = value[name]

    def test_unknown_columns_are_named(self, caller: ApiClient, account: Account) -> None:
        response = download(caller, make_list(account), "?columns=domain,mx.hosts,scor")
        assert (response.status_code, error_code(response)) == (400, "invalid_field")
        error = response.json()["error"]
        assert error["param"] == "columns"
        assert 'unknown names: "mx.hosts", "scor".' in error["message"]
        assert "checks.role_account" in error["message"]

    def test_field_that_an_earlier_release_did_not_store_is_empty(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_list(account, b"email\ndisposable@sandbox.test\n")
        chunk = ListChunk.objects.get(list=made)
        result = check("disposable@sandbox.test")
        for field in ("lists.disposable_by", "mx.gateway", "mx.ipv4"):
            parent, name = field.split(".")
            del result[parent][name]
        chunk.results = pack_lines([result])
        chunk.save()
        _, row = rows_of(download(caller, made, "?columns=lists.disposable_by,mx.gateway,mx.ipv4"))
        assert (row[1], row[-3:]) == ("risky", ["", "", ""])

    def test_formulas_in_our_columns_are_escaped(self, caller: ApiClient, account: Account) -> None:
        made = make_list(account, b"+jane@sandbox.test\n")
        chunk = ListChunk.objects.get(list=made)
        result = dict.fromkeys([*DEFAULT_COLUMNS], "=cmd()")
        chunk.results = pack_lines([result])
        chunk.save()
        rows = rows_of(download(caller, made))
        assert rows[1] == ["'+jane@sandbox.test", *["'=cmd()"] * 6]


class TestJsonLines:
    def test_each_line_has_a_row_with_its_cells_and_result(
        self, caller: ApiClient, account: Account
    ) -> None:
        response = download(caller, make_list(account), "?format=jsonl")
        lines = [json.loads(line) for line in body(response).splitlines()]
        assert [line["row"] for line in lines] == [1, 2, 3, 4, 5, 6, 7]
        assert lines[1]["cells"] == ["Risky", "risky@sandbox.test", "=1+1"]
        assert lines[1]["result"]["verdict"] == "risky"
        assert (lines[4]["kind"], lines[4]["duplicate_of"]) == ("duplicate", 1)
        assert lines[4]["result"] == lines[0]["result"]
        assert response.headers["Content-Type"] == "application/x-ndjson"


class TestXlsx:
    def test_cells_are_text_but_our_numbers(self, caller: ApiClient, account: Account) -> None:
        content = b"email,=cmd(),phone\nrisky@sandbox.test,=1+1,+49 170\nx@sandbox.test,007,-1\n"
        made = make_list(account, content, has_header=True, column=0)
        response = download(caller, made, f"{XLSX}&columns=domain")
        assert response.headers["Content-Type"].endswith("spreadsheetml.sheet")
        assert response.headers["Content-Disposition"].endswith('.xlsx"')
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(body(response)))
        header, first, second = workbook.get_sheet_by_name("Results").to_python()
        assert header == ["email", "=cmd()", "phone", *OURS, "ev_domain"]
        assert first[:6] == ["risky@sandbox.test", "=1+1", "+49 170", "risky", "accept_all", 50]
        assert second[:5] == ["x@sandbox.test", "007", "-1", "undeliverable", "reserved_domain"]

    def test_sheet_is_the_same_as_that_of_xlsxwriter(self, tmp_path: Path) -> None:
        rows: list[Row] = [
            ["a<b>&\"c'", " x", "x\ny", "\tx", "a\x01\r", "_x0041_", "=1", "漢\uffff", "\x0c x "],
            ["", 5, "z", ""],
            ["😀" * 20_000, "x" * 32_768, *[f"{number}" for number in range(30)]],
        ]
        options = {"constant_memory": True, "tmpdir": str(tmp_path), "strings_to_formulas": False}
        with Workbook(tmp_path / "expected.xlsx", options) as workbook:
            sheet = workbook.add_worksheet()
            for number, row in enumerate(rows):
                for column, cell in enumerate(row):
                    sheet.write(number, column, cell)
        (tmp_path / "ours.xlsx").write_bytes(
            b"".join(stream_xlsx(map(row_xml, count(1), rows), is_huge=True))
        )
        assert sheet_data(tmp_path / "ours.xlsx") == sheet_data(tmp_path / "expected.xlsx")

    def test_list_with_more_rows_than_excel_allows_is_refused(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_list(account)
        AddressList.objects.filter(pk=made.pk).update(rows=MAX_XLSX_ROWS)
        response = download(caller, made, XLSX)
        assert (response.status_code, error_code(response)) == (400, "invalid_field")
        assert response.json()["error"]["message"].endswith("Download CSV instead.")


def sheet_data(path: Path) -> bytes:
    with ZipFile(path) as files:
        sheet = files.read("xl/worksheets/sheet1.xml")
    return sheet.partition(b"<sheetData>")[2]


class TestStates:
    def test_list_without_results_needs_partial(self, caller: ApiClient, account: Account) -> None:
        made = make_list(account)
        states = (ListState.RUNNING, ListState.PAUSED, ListState.CANCELED, ListState.FAILED)
        for state in states:
            set_state(made, state)
            response = download(caller, made)
            assert (response.status_code, error_code(response)) == (409, "invalid_state")
            assert response.json()["error"]["details"] == {"state": state}
            partial = download(caller, made, "?partial=true")
            assert partial.headers["X-List-State"] == state
            assert len(rows_of(partial)) == 8

    def test_list_is_complete_before_unknown_addresses_are_checked_again(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_list(account, state=ListState.RECHECKING)
        set_state(made, ListState.RECHECKING, results_at=timezone.now())
        response = download(caller, made)
        assert response.headers["X-List-State"] == "rechecking"
        assert len(rows_of(response)) == 8


class TestRequest:
    def test_wrong_parameter_is_refused(self, caller: ApiClient, account: Account) -> None:
        made = make_list(account)
        for query in (
            *("format=xls", "filter=good", "partial=yes", "columns=", "formulas=no"),
            "columns=domain&format=jsonl",
        ):
            response = download(caller, made, f"?{query}")
            assert refusal(response) == (400, "invalid_field", query.partition("=")[0]), query

    def test_response_is_a_file_with_the_headers_of_the_api(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_list(account)
        response = download(caller, made)
        name = f'attachment; filename="{made.public_id}.csv"'
        assert response.headers["Content-Disposition"] == name
        assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert int(response.headers["X-RateLimit-Remaining"]) >= 0
        assert response.headers["X-Request-Id"]
        assert "Content-Length" not in response.headers

    def test_head_has_the_headers_without_reading_the_list(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_list(account)
        ListChunk.objects.all().delete()
        for accept in ("text/csv", "application/x-ndjson", "*/*"):
            response = caller.call("HEAD", f"/v1/lists/{made.public_id}/download", Accept=accept)
            assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
            assert body(response) == b""


def fill(address_list: AddressList, chunks: int) -> None:
    """Repeat the first chunk of a list, as if the file were that much longer."""
    first = ListChunk.objects.get(list=address_list)
    ListChunk.objects.bulk_create(
        ListChunk(
            list=address_list,
            first_row=number * 1_000,
            row_count=1_000,
            rows=first.rows,
            results=first.results,
        )
        for number in range(1, chunks)
    )
    AddressList.objects.filter(pk=address_list.pk).update(rows=1_000 * chunks)
    address_list.refresh_from_db()


def download_size(address_list: AddressList, file_format: DownloadFormat) -> int:
    chosen = Download(format=file_format, wanted=ResultFilter.ALL)
    return sum(map(len, stream_download(address_list, chosen)))


def peak_memory(address_list: AddressList, file_format: DownloadFormat) -> int:
    tracemalloc.start()
    try:
        assert download_size(address_list, file_format) > 5 * address_list.rows
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("file_format", [DownloadFormat.CSV, DownloadFormat.XLSX])
def test_memory_does_not_grow_with_the_list(account: Account, file_format: DownloadFormat) -> None:
    content = b"".join(b"deliverable+%d@sandbox.test\n" % number for number in range(1_000))
    made = make_list(account, content)
    fill(made, 2)
    # The first download imports modules.
    download_size(made, file_format)
    small = peak_memory(made, file_format)
    ListChunk.objects.filter(first_row__gt=0).delete()
    fill(made, 8)
    assert made.rows == 8_000
    assert peak_memory(made, file_format) < 1.05 * small
