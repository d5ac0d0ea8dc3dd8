"""Read the rows of a list with their results, in constant memory.

The result of a duplicate is that of the row it repeats, which may be in any earlier chunk. Reading
a whole list keeps such results in a temporary file. A page looks them up one by one.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from runtime.database.pool import release_connection
from validation.lists.payloads import RowKind, Rows, unpack_results
from validation.lists.results.result_file import ResultFile
from validation.models import AddressList, ListChunk
from validation.models.lists import CHUNK_ROWS

Result = dict[str, Any]

# For pages. A chunk takes a few megabytes.
_CACHED_CHUNKS = 2
# Bounds the time of a page with few matching rows, or with duplicates of rows all over the list.
_CHUNKS_PER_PAGE = 30


class ResultFilter(StrEnum):
    ALL = "all"
    DELIVERABLE = "deliverable"
    SAFE = "safe"
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


class ResultRow(NamedTuple):
    # Counted from 1, without the header.
    number: int
    kind: RowKind
    cells: list[str]
    # The number of the row that a duplicate repeats.
    duplicate_of: int | None
    # None for a row without an address, or that wasn't checked yet.
    result: Result | None


def iterate_results(
    address_list: AddressList,
    wanted: ResultFilter = ResultFilter.ALL,
    repeated: bytearray | None = None,
) -> Iterator[ResultRow]:
    """Yield the rows that match, in their order. `repeated`: what `scan_rows` found, if known."""
    if repeated is None:
        repeated = scan_rows(address_list).repeated
    with ResultFile() as originals:
        for number in range(_count_chunks(address_list)):
            chunk = _read_chunk(address_list, number)
            for index, result in chunk.results_by_index():
                if is_marked(repeated, chunk.first_row + index):
                    originals.add(chunk.first_row + index, result)
            for row in _result_rows(chunk, originals.find):
                if wanted.matches(row.result):
                    yield row


class RowScan(NamedTuple):
    # The number of cells in the widest row.
    width: int
    # A bit for each row that a later one repeats.
    repeated: bytearray


def scan_rows(address_list: AddressList) -> RowScan:
    """Read all rows, but no results."""
    width, repeated = 0, bytearray(address_list.rows // 8 + 1)
    for number in range(_count_chunks(address_list)):
        (packed,) = _read_columns(address_list, number, "rows")
        rows = Rows.unpack(packed)
        width = max(width, max(map(len, rows.cells), default=0))
        for row in rows.originals:
            repeated[row // 8] |= 1 << row % 8
    return RowScan(width, repeated)


def is_marked(bits: bytearray, row: int) -> bool:
    return bool(bits[row // 8] & 1 << row % 8)


class ResultPage(NamedTuple):
    rows: list[ResultRow]
    # The number of the row behind which the next page begins. None on the last page.
    next: int | None


def find_page(
    address_list: AddressList, wanted: ResultFilter, *, after: int, limit: int
) -> ResultPage:
    """Return up to `limit` rows that match. Fewer if they are far apart, even none."""
    found: list[ResultRow] = []
    lookup = _Lookup(address_list)
    for row in lookup.rows_behind(after):
        if wanted.matches(row.result):
            found.append(row)
        is_full = len(found) == limit or lookup.chunks_read >= _CHUNKS_PER_PAGE
        if is_full and row.number < address_list.rows:
            return ResultPage(found, row.number)
    return ResultPage(found, None)


class _Lookup:
    """Looks up results of single rows. Counts the chunks that it read for that."""

    def __init__(self, address_list: AddressList) -> None:
        self._list = address_list
        self._read = lru_cache(_CACHED_CHUNKS)(self._read_and_count)
        self.chunks_read = 0

    def rows_behind(self, after: int) -> Iterator[ResultRow]:
        for number in range(after // CHUNK_ROWS, _count_chunks(self._list)):
            yield from _result_rows(self._read(number), self._find, after)

    def _find(self, row: int) -> Result | None:
        return self._read(row // CHUNK_ROWS).result_at(row % CHUNK_ROWS)

    def _read_and_count(self, number: int) -> "_Chunk":
        self.chunks_read += 1
        return _read_chunk(self._list, number)


@dataclass(frozen=True, slots=True)
class _Chunk:
    # Counted from 0 in the whole list.
    first_row: int
    rows: Rows
    # Of the rows of the kind ADDRESS, in order. Empty until the chunk was checked.
    results: list[Result]

    def result_at(self, index: int) -> Result | None:
        if not self.results or self.rows.kinds[index] != RowKind.ADDRESS:
            return None
        return self.results[self.rows.kinds.count(RowKind.ADDRESS, 0, index)]

    def results_by_index(self) -> Iterator[tuple[int, Result]]:
        """Yield the results with the numbers of their rows in this chunk."""
        kinds = enumerate(self.rows.kinds)
        indexes = (index for index, kind in kinds if kind == RowKind.ADDRESS)
        # There are none in a chunk that wasn't checked yet.
        return zip(indexes, self.results, strict=bool(self.results))


def _result_rows(
    chunk: _Chunk, find_original: Callable[[int], Result | None], after: int = 0
) -> Iterator[ResultRow]:
    originals, results = iter(chunk.rows.originals), iter(chunk.results)
    rows = zip(chunk.rows.cells, chunk.rows.kinds, strict=True)
    for number, (cells, letter) in enumerate(rows, chunk.first_row + 1):
        kind, duplicate_of, result = RowKind(letter), None, None
        if kind is RowKind.ADDRESS:
            result = next(results, None)
        elif kind is RowKind.DUPLICATE:
            original = next(originals)
            duplicate_of = original + 1
            result = find_original(original) if number > after else None
        if number > after:
            yield ResultRow(number, kind, cells, duplicate_of, result)


def _count_chunks(address_list: AddressList) -> int:
    """Return the number of chunks. All but the last are full."""
    return -(-address_list.rows // CHUNK_ROWS)


def _read_chunk(address_list: AddressList, number: int) -> _Chunk:
    rows, results = _read_columns(address_list, number, "rows", "results")
    unpacked = unpack_results(results) if results else []
    return _Chunk(number * CHUNK_ROWS, Rows.unpack(rows), unpacked)


def _read_columns(address_list: AddressList, number: int, *columns: str) -> list[bytes]:
    chunks = ListChunk.objects.filter(list=address_list, number=number)
    values = chunks.values_list(*columns).get()
    # Neither a slow client nor the work on these rows may hold a connection.
    release_connection()
    # Other requests of the web worker run between two chunks.
    time.sleep(0)
    return [bytes(value) for value in values]
