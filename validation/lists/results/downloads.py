"""A list with its results as CSV or JSON Lines, in constant memory.

CSV has the customer's columns first, then ours. Rows are filled up to the same width, so that our
columns are below their names.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, islice
from typing import Any, TypeVar

import orjson

from runtime.csv_download import Row, csv_lines, escape_formula
from validation.engine.verdicts.finding import CHECKS
from validation.lists.results.reading import (
    Result,
    ResultFilter,
    ResultRow,
    iterate_results,
    scan_rows,
)
from validation.lists.uploads.previews import StoredPreview
from validation.models import AddressList

Item = TypeVar("Item")


class DownloadFormat(StrEnum):
    CSV = "csv"
    JSON_LINES = "jsonl"


DEFAULT_COLUMNS = ("verdict", "reason", "score", "safe_to_send", "did_you_mean", "normalized")
# Dots lead into objects. In the header they are underscores: `ev_checks_disposable`.
EXTRA_COLUMNS = (
    *("reasons", "evidence", "accept_for_signup", "canonical", "local_part", "tag", "domain"),
    *("ascii_domain", "registrable_domain", "retry_after_s", "syntax_error.code", "mx.provider"),
    *("mx.gateway", "mx.ipv4", "mx.fallback", "lists.disposable_by", "account_list"),
    *("domain_auth.spf", "domain_auth.dmarc", *(f"checks.{name}" for name in CHECKS)),
)
# Other requests of the web worker run after so many rows.
_ROWS_PER_PIECE = 50


def parse_columns(text: str) -> list[str]:
    """Return the column names in a list with commas. Raise ValueError with an unknown one."""
    columns = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in columns:
        if name not in {*DEFAULT_COLUMNS, *EXTRA_COLUMNS}:
            raise ValueError(name)
    return [name for name in columns if name not in DEFAULT_COLUMNS]


def stream_csv(
    address_list: AddressList,
    wanted: ResultFilter,
    extra_columns: Sequence[str] = (),
    delimiter: str = ",",
) -> Iterator[bytes]:
    """Yield a CSV file. Text that a spreadsheet could run as a formula gets an apostrophe."""
    columns = [*DEFAULT_COLUMNS, *extra_columns]
    header = read_header(address_list)
    scan = scan_rows(address_list)
    width = max(scan.width, len(header))
    rows = _csv_rows(iterate_results(address_list, wanted, scan.repeated), columns, width)
    names: Row = [*_name_columns(header, width, address_list.column), *map(_column_name, columns)]
    for piece in _in_pieces(csv_lines(chain([names], rows), delimiter)):
        yield "".join(piece).encode()


def find_delimiter(address_list: AddressList) -> str:
    """Return the delimiter that the customer's spreadsheet program reads.

    Where commas separate decimals, Excel writes semicolons, and shows a file with commas in one
    column.
    """
    file = StoredPreview.unpack(bytes(address_list.preview)).file
    return ";" if file.delimiter == ";" else ","


def stream_json_lines(address_list: AddressList, wanted: ResultFilter) -> Iterator[bytes]:
    """Yield one JSON object per row, with the whole result."""
    rows = iterate_results(address_list, wanted)
    for piece in _in_pieces(map(_json_line, rows)):
        yield b"".join(piece)


def read_header(address_list: AddressList) -> list[str]:
    """Return the first row of the file if it's a header."""
    return StoredPreview.unpack(bytes(address_list.preview)).file.header


def _name_columns(header: Sequence[str], width: int, address_column: int | None) -> Iterator[str]:
    """Keep the customer's names. In a file without a header, name the columns by their number."""
    for index in range(width):
        if index < len(header):
            yield escape_formula(header[index])
        elif header:
            yield ""
        else:
            yield "email" if index == address_column else f"column_{index + 1}"


def _column_name(column: str) -> str:
    return f"ev_{column.replace('.', '_')}"


def _csv_rows(rows: Iterable[ResultRow], columns: Sequence[str], width: int) -> Iterator[Row]:
    paths = [column.split(".") for column in columns]
    for row in rows:
        cells = map(escape_formula, row.cells)
        padding = [""] * (width - len(row.cells))
        yield [*cells, *padding, *(_text_at(row.result, path) for path in paths)]


def _text_at(result: Result | None, path: Sequence[str]) -> str:
    value: Any = result
    for name in path:
        # Results stored by an earlier release don't have the fields that were added since.
        value = value and value.get(name)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape_formula(" ".join(value) if isinstance(value, list) else str(value))


def _json_line(row: ResultRow) -> bytes:
    return orjson.dumps(row_document(row) | {"cells": row.cells}, option=orjson.OPT_APPEND_NEWLINE)


def row_document(row: ResultRow) -> dict[str, object]:
    """Return a row of the results, without the customer's cells."""
    return {
        "row": row.number,
        "kind": row.kind.name.lower(),
        "duplicate_of": row.duplicate_of,
        "result": row.result,
    }


def _in_pieces(lines: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield some lines at a time, and let other requests of the web worker run in between."""
    iterator = iter(lines)
    while piece := list(islice(iterator, _ROWS_PER_PIECE)):
        yield piece
        time.sleep(0)
