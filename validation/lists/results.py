"""Read the rows and results of a list, in constant memory.

Chunks are read one after the other. The results of duplicates are those of the rows they repeat,
which may be in other chunks: each of those is read once per chunk that refers to it.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from runtime.database.pool import release_connection
from validation.lists.payloads import RowKind, Rows, unpack_results
from validation.models import AddressList, ListChunk
from validation.models.lists import CHUNK_ROWS

Result = dict[str, Any]

# Duplicates often repeat rows of the same chunk as those of the chunk before. A chunk takes a few
# megabytes.
_CACHED_CHUNKS = 2
# Bounds the time of a request whose filter few rows match.
_MAX_CHUNKS_PER_PAGE = 10


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
    address_list: AddressList, wanted: ResultFilter = ResultFilter.ALL, *, after: int = 0
) -> Iterator[ResultRow]:
    """Yield the rows that match, in their order, from the row behind `after` on."""
    for rows in iterate_chunks(address_list, after=after):
        yield from (row for row in rows if wanted.matches(row.result))


def iterate_chunks(address_list: AddressList, *, after: int = 0) -> Iterator[list[ResultRow]]:
    """Yield the rows of one chunk after the other, from the row behind `after` on."""
    reader = _ChunkReader(address_list)
    # Rounded up.
    chunks = -(-address_list.rows // CHUNK_ROWS)
    for number in range(after // CHUNK_ROWS, chunks):
        rows = reader.result_rows(number)
        # Neither a slow client nor the work on these rows may hold a connection.
        release_connection()
        # Other requests of the web worker run between two chunks.
        time.sleep(0)
        yield [row for row in rows if row.number > after]


class ResultPage(NamedTuple):
    rows: list[ResultRow]
    # The number of the row behind which the next page begins. None on the last page.
    next: int | None


def find_page(
    address_list: AddressList, wanted: ResultFilter, *, after: int, limit: int
) -> ResultPage:
    """Return up to `limit` rows that match. Fewer if they are far apart, even none."""
    found: list[ResultRow] = []
    for chunks_read, rows in enumerate(iterate_chunks(address_list, after=after), 1):
        for row in rows:
            if wanted.matches(row.result):
                if len(found) == limit:
                    return ResultPage(found, found[-1].number)
                found.append(row)
        if chunks_read == _MAX_CHUNKS_PER_PAGE and rows[-1].number < address_list.rows:
            return ResultPage(found, rows[-1].number)
    return ResultPage(found, None)


def find_width(address_list: AddressList) -> int:
    """Return the number of cells in the widest row. Reads all rows, but no results."""
    chunks = ListChunk.objects.filter(list=address_list).values_list("rows", flat=True)
    widths = (
        max(map(len, Rows.unpack(bytes(packed)).cells), default=0)
        for packed in chunks.order_by("number").iterator(chunk_size=10)
    )
    width = max(widths, default=0)
    release_connection()
    return width


@dataclass(frozen=True, slots=True)
class _Chunk:
    rows: Rows
    # Empty until the chunk was checked.
    results: list[Result]

    def result_at(self, index: int) -> Result | None:
        """Return the result of a row of the kind ADDRESS."""
        if not self.results:
            return None
        return self.results[self.rows.kinds.count(RowKind.ADDRESS, 0, index)]


class _ChunkReader:
    def __init__(self, address_list: AddressList) -> None:
        self._list = address_list
        self._read = lru_cache(_CACHED_CHUNKS)(self._read_chunk)

    def result_rows(self, number: int) -> list[ResultRow]:
        chunk = self._read(number)
        repeated = self._results_of(chunk.rows.originals)
        originals, results = iter(chunk.rows.originals), iter(chunk.results)
        rows = []
        for index, (cells, letter) in enumerate(
            zip(chunk.rows.cells, chunk.rows.kinds, strict=True)
        ):
            kind, duplicate_of, result = RowKind(letter), None, None
            if kind is RowKind.ADDRESS:
                result = next(results, None)
            elif kind is RowKind.DUPLICATE:
                original = next(originals)
                duplicate_of, result = original + 1, repeated[original]
            rows.append(
                ResultRow(number * CHUNK_ROWS + index + 1, kind, cells, duplicate_of, result)
            )
        return rows

    def _results_of(self, rows: list[int]) -> dict[int, Result | None]:
        """Return the results of rows anywhere in the list, by row."""
        by_chunk = defaultdict(set)
        for row in rows:
            by_chunk[row // CHUNK_ROWS].add(row)
        found = {}
        for number in sorted(by_chunk):
            chunk = self._read(number)
            for row in by_chunk[number]:
                found[row] = chunk.result_at(row % CHUNK_ROWS)
        return found

    def _read_chunk(self, number: int) -> _Chunk:
        stored = ListChunk.objects.only("rows", "results").get(list=self._list, number=number)
        results = unpack_results(bytes(stored.results)) if stored.results else []
        return _Chunk(Rows.unpack(bytes(stored.rows)), results)
