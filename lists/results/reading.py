"""Read rows with results. A duplicate's result may be in any earlier chunk, so a file keeps it."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import TextChoices

from lists.models import AddressList, ListChunk
from lists.packing import Result, RowBits, RowKind, Rows, unpack_results
from lists.results.result_file import ResultFile
from runtime.database.pool import release_connection

# Each takes up to a few megabytes.
_CACHED_CHUNKS = 2
# Bounds the time of a page with few matches.
_CHUNKS_PER_PAGE = 30


class ResultFilter(TextChoices):
    ALL = "all", "All rows"
    SAFE = "safe", "Safe to send"
    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
    UNKNOWN = "unknown"

    def matches(self, result: Result | None) -> bool:
        if self is ResultFilter.ALL:
            return True
        if result is None:
            return False
        if self is ResultFilter.SAFE:
            return result["safe_to_send"] is True
        return bool(result["verdict"] == self.value)


@dataclass(frozen=True, slots=True)
class ResultRow:
    # From 1, without the header.
    number: int
    kind: RowKind
    duplicate_of: int | None
    # None if the row has no address or wasn't checked.
    result: Result | None
    _chunk: "_Chunk" = field(compare=False, repr=False)

    @property
    def cells(self) -> list[str]:
        return self._chunk.rows.cells[self.number - 1 - self._chunk.first_row]


def iterate_results(
    address_list: AddressList, wanted: ResultFilter = ResultFilter.ALL
) -> Iterator[ResultRow]:
    repeated = RowBits(bytes(address_list.parsed.repeated))
    with ResultFile() as originals:
        row_number = 0
        while row_number < address_list.rows:
            chunk = _read_chunk(address_list, row_number)
            for row in _result_rows(chunk, originals.find):
                if row.kind is RowKind.ADDRESS and row.result and row.number - 1 in repeated:
                    originals.add(row.number - 1, row.result)
                if wanted.matches(row.result):
                    yield row
            row_number = chunk.end


class ResultPage(NamedTuple):
    rows: list[ResultRow]
    # The next page starts after this row. None on the last page.
    next: int | None


def find_page(
    address_list: AddressList, wanted: ResultFilter, *, after: int, limit: int
) -> ResultPage:
    """Return up to `limit` matching rows, fewer if they are far apart."""
    found: list[ResultRow] = []
    cached: list[_Chunk] = []
    chunks_read = 0

    def chunk_with(row: int) -> _Chunk:
        nonlocal cached, chunks_read
        for chunk in cached:
            if chunk.first_row <= row < chunk.end:
                return chunk
        chunks_read += 1
        cached = [_read_chunk(address_list, row), *cached[: _CACHED_CHUNKS - 1]]
        return cached[0]

    def find_original(row: int) -> Result | None:
        chunk = chunk_with(row)
        return chunk.result_at(row - chunk.first_row)

    row_number = after
    while row_number < address_list.rows:
        chunk = chunk_with(row_number)
        for row in _result_rows(chunk, find_original, after):
            if wanted.matches(row.result):
                found.append(row)
            is_full = len(found) == limit or chunks_read >= _CHUNKS_PER_PAGE
            if is_full and row.number < address_list.rows:
                return ResultPage(found, row.number)
        row_number = chunk.end
    return ResultPage(found, None)


@dataclass(frozen=True, slots=True)
class _Chunk:
    # Counted from 0 in the whole list.
    first_row: int
    rows: Rows
    # One per row of the kind ADDRESS. No results until they're checked.
    results: Sequence[Result]

    @property
    def end(self) -> int:
        return self.first_row + len(self.rows.kinds)

    def result_at(self, index: int) -> Result | None:
        if not self.results or self.rows.kinds[index] != RowKind.ADDRESS:
            return None
        return self.results[self.rows.kinds.count(RowKind.ADDRESS, 0, index)] or None


def _result_rows(
    chunk: _Chunk, find_original: Callable[[int], Result | None], after: int = 0
) -> Iterator[ResultRow]:
    kinds, skipped = chunk.rows.kinds, max(0, after - chunk.first_row)
    originals = iter(chunk.rows.originals[kinds.count(RowKind.DUPLICATE, 0, skipped) :])
    for index in range(skipped, len(kinds)):
        kind, duplicate_of, result = RowKind(kinds[index]), None, None
        if kind is RowKind.ADDRESS:
            result = chunk.result_at(index)
        elif kind is RowKind.DUPLICATE:
            original = next(originals)
            duplicate_of, result = original + 1, find_original(original)
        yield ResultRow(chunk.first_row + index + 1, kind, duplicate_of, result, chunk)


def _read_chunk(address_list: AddressList, row: int) -> _Chunk:
    chunk = ListChunk.objects.filter(list=address_list).with_row(row)
    # A slow client must not hold a connection.
    release_connection()
    # Let other requests run.
    time.sleep(0)
    results = unpack_results(chunk.results) if chunk.results else []
    return _Chunk(chunk.first_row, Rows.unpack(chunk.rows), results)
