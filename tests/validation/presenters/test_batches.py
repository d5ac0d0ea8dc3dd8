"""What the playground says about a batch, and its CSV file."""

import base64
import csv
from typing import Any

import pytest

from runtime.csv_download import BYTE_ORDER_MARK
from validation.presenters.batches import CSV_COLUMNS, BatchReport, present_batch
from validation.results.sample_results import sandbox_result


def make_report(*results: dict[str, Any], lines: list[int] | None = None) -> BatchReport:
    document = {"id": "bat_06H0D7M0PNJM3ZTXJESNH1DJHZ", "results": results}
    return present_batch(document, lines or list(range(1, len(results) + 1)), {})


def make_result(
    email: str = "jane@shop.example", word: str = "deliverable", **fields: object
) -> dict[str, Any]:
    return {
        **sandbox_result(word),
        "email": email,
        "credits": {"charged": 1, "remaining": 5},
        "duplicate_of": None,
        **fields,
    }


def read_csv(report: BatchReport) -> list[list[str]]:
    head, _, data = report.csv_url.partition(",")
    assert head == "data:text/csv;charset=utf-8;base64"
    text = base64.b64decode(data).decode()
    assert text.startswith(BYTE_ORDER_MARK)
    return list(csv.reader(text.removeprefix(BYTE_ORDER_MARK).splitlines()))


def test_csv_file_has_the_documented_columns() -> None:
    header, row = read_csv(make_report(make_result()))
    assert header == [*CSV_COLUMNS]
    assert dict(zip(header, row, strict=True)) == {
        "line": "1",
        "email": "jane@shop.example",
        "verdict": "deliverable",
        "reason": "mailbox_accepted",
        "did_you_mean": "",
        "score": "100",
        "safe_to_send": "yes",
        "accept_for_signup": "yes",
        "account_list": "",
        "repeats_line": "",
        "credits": "1",
        "id": row[-1],
    }


def test_note_says_what_the_own_domains_and_the_repetition_mean() -> None:
    first = make_result(account_list="denied")
    report = make_report(first, {**first, "duplicate_of": 0}, make_result())
    note = "Denied by your own domains: reject the address."
    assert [row.note for row in report.rows] == [note, f"{note} Repeats line 1, for free.", ""]
    assert read_csv(report)[1][8] == "denied"


@pytest.mark.parametrize(
    ("email", "cell"),
    [
        ("=cmd()@shop.example", "'=cmd()@shop.example"),
        ("+1@shop.example", "'+1@shop.example"),
        ("@shop.example", "'@shop.example"),
        ("jane\u202e@shop.example", "jane[U+202E]@shop.example"),
        ('"a,b"@shop.example', '"a,b"@shop.example'),
        ("مستخدم@shop.example", "مستخدم@shop.example"),
    ],
)
def test_csv_file_contains_no_formulas_or_invisible_characters(email: str, cell: str) -> None:
    assert read_csv(make_report(make_result(email)))[1][1] == cell


def test_suggestion_cannot_be_a_formula_either() -> None:
    _, row = read_csv(make_report(make_result(did_you_mean="=jane@gmail.com")))
    assert row[4] == "'=jane@gmail.com"


def test_unknown_result_has_empty_cells() -> None:
    header, row = read_csv(make_report(make_result(word="unknown")))
    cells = dict(zip(header, row, strict=True))
    assert (cells["verdict"], cells["score"], cells["safe_to_send"]) == ("unknown", "", "")


def test_duplicate_names_the_line_of_the_text() -> None:
    report = make_report(make_result(), make_result(duplicate_of=0), lines=[2, 5])
    assert [row.line for row in report.rows] == [2, 5]
    assert [row.note for row in report.rows] == ["", "Repeats line 2, for free."]
    assert [row[9] for row in read_csv(report)] == ["repeats_line", "", "2"]
