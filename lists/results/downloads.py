import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import orjson
from django.core.cache import cache
from django.db.models import TextChoices

from accounts.models import Account
from apikeys.errors import ApiError
from engine import CHECKS
from lists.models import AddressList
from lists.packing import Result
from lists.previews import StoredPreview
from lists.results.reading import ResultFilter, ResultRow, iterate_results
from runtime.csv_download import Row, csv_lines, escape_formula
from runtime.logging.formatters import mask_secrets


class DownloadFormat(TextChoices):
    CSV = "csv", "CSV"
    XLSX = "xlsx", "XLSX"
    JSON_LINES = "jsonl", "JSON Lines"


DEFAULT_COLUMNS = ("verdict", "reason", "score", "safe_to_send", "did_you_mean", "normalized")
# In the header, dots are underscores: `ev_checks_disposable`.
EXTRA_COLUMNS = (
    *("reasons", "evidence", "accept_for_signup", "canonical", "local_part", "tag", "domain"),
    *("ascii_domain", "registrable_domain", "retry_after_s", "syntax_error.code", "mx.provider"),
    *("mx.gateway", "mx.ipv4", "mx.fallback", "lists.disposable_by", "account_list"),
    *("lookalike_of", "domain_auth.spf", "domain_auth.dmarc"),
    *(f"checks.{name}" for name in CHECKS),
)
MAX_XLSX_ROWS = 1_048_576
# Of an account, at the same time.
MAX_DOWNLOADS = 4
_RETRY_SECONDS = 30
# A client may take SEND_SECONDS (config/server/worker.py) to read a piece, which is less.
_SLOT_SECONDS, _RENEWAL_SECONDS = 120, 20
# Other requests run between pieces.
_ROWS_PER_PIECE, _BYTES_PER_PIECE = 50, 64 << 10


def parse_columns(text: str) -> list[str]:
    """Return our columns. Raise ApiError for unknown ones."""
    columns = dict.fromkeys([*DEFAULT_COLUMNS, *(name.strip() for name in text.split(","))])
    if unknown := columns.keys() - {*DEFAULT_COLUMNS, *EXTRA_COLUMNS}:
        names = mask_secrets(", ".join(f'"{name}"' for name in sorted(unknown)))[:200]
        known = ", ".join([*DEFAULT_COLUMNS, *EXTRA_COLUMNS])
        message = f"columns has unknown names: {names}. Choose from these: {known}."
        raise ApiError("invalid_field", message, param="columns")
    return [*columns]


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    format: DownloadFormat
    wanted: ResultFilter
    # Of ours.
    columns: Sequence[str] = DEFAULT_COLUMNS
    delimiter: str = ","
    keep_formulas: bool = False


def stream_download(address_list: AddressList, download: Download) -> Generator[bytes]:
    """Return pieces of the file: the customer's columns, then ours."""
    if download.format is DownloadFormat.JSON_LINES:
        found = iterate_results(address_list, download.wanted)
        documents = (row_document(row) | {"cells": row.cells} for row in found)
        return _join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in documents)
    if download.format is DownloadFormat.XLSX:
        # XlsxWriter would take 10 MB of each web worker.
        from lists.results.xlsx_stream import row_xml, stream_xlsx

        # The header is a row, too.
        if address_list.rows >= MAX_XLSX_ROWS:
            message = f"XLSX files can have up to {MAX_XLSX_ROWS:,} rows. Download CSV instead."
            raise ApiError("invalid_field", message, param="format")
        cells = address_list.rows * (address_list.parsed.width + len(download.columns))
        rows = map(row_xml, count(1), _table(address_list, download, str))
        return stream_xlsx(_join(rows), is_huge=address_list.bytes + 100 * cells > 2 << 30)
    table = _table(address_list, download, str if download.keep_formulas else escape_formula)
    lines = csv_lines(table, download.delimiter, keep_formulas=download.keep_formulas)
    return _join(line.encode() for line in lines)


def limit_downloads(account: Account, pieces: Iterator[bytes]) -> Generator[bytes]:
    """Yield the pieces. The first `next` raises ApiError if too many downloads run."""
    slots = [f"list-download:{account.public_id}:{number}" for number in range(MAX_DOWNLOADS)]
    slot = next((slot for slot in slots if cache.add(slot, True, _SLOT_SECONDS)), None)
    if slot is None:
        raise ApiError(
            "rate_limit_exceeded",
            f"Your account has {MAX_DOWNLOADS} downloads in progress. Wait until one has ended.",
            details={"limit": MAX_DOWNLOADS, "retry_after": _RETRY_SECONDS},
            headers={"Retry-After": str(_RETRY_SECONDS)},
        )
    try:
        renewed_at = time.monotonic()
        for piece in pieces:
            yield piece
            if time.monotonic() - renewed_at > _RENEWAL_SECONDS:
                renewed_at = time.monotonic()
                cache.set(slot, True, _SLOT_SECONDS)
    finally:
        cache.delete(slot)


def _table(
    address_list: AddressList, download: Download, escape: Callable[[str], str]
) -> Iterator[Row]:
    paths = [column.split(".") for column in download.columns]
    header = StoredPreview.of(address_list).file.header
    width = max(address_list.parsed.width, len(header))
    if header:
        names = [*map(escape, header), *[""] * (width - len(header))]
    else:
        names = [f"column_{index + 1}" for index in range(width)]
        if address_list.column is not None and address_list.column < width:
            names[address_list.column] = "email"
    yield [*names, *(f"ev_{column.replace('.', '_')}" for column in download.columns)]
    for row in iterate_results(address_list, download.wanted):
        padding = [""] * (width - len(row.cells))
        results = (_cell_at(row.result, path) for path in paths)
        ours = (escape(cell) if isinstance(cell, str) else cell for cell in results)
        yield [*map(escape, row.cells), *padding, *ours]


def find_delimiter(address_list: AddressList) -> str:
    """Return a semicolon if the file has it: Excel needs it where commas are decimal."""
    return ";" if StoredPreview.of(address_list).file.delimiter == ";" else ","


def _cell_at(result: Result | None, path: Sequence[str]) -> str | int:
    value: Any = result
    for name in path:
        # Results of an earlier release don't have later fields.
        value = value and value.get(name)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value
    return " ".join(value) if isinstance(value, list) else str(value)


def row_document(row: ResultRow) -> dict[str, object]:
    return {
        "row": row.number,
        "kind": row.kind.name.lower(),
        "duplicate_of": row.duplicate_of,
        "result": row.result,
    }


def _join(lines: Iterable[bytes]) -> Generator[bytes]:
    piece: list[bytes] = []
    size = 0
    for line in lines:
        piece.append(line)
        size += len(line)
        if len(piece) == _ROWS_PER_PIECE or size >= _BYTES_PER_PIECE:
            yield b"".join(piece)
            piece, size = [], 0
            time.sleep(0)
    if piece:
        yield b"".join(piece)
