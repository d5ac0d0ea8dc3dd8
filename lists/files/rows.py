import csv
import io
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain, islice
from typing import Any, BinaryIO

from lists.files import xlsx
from lists.files.errors import UnreadableFile
from lists.files.formats import FileFormat, FileKind

MAX_CELL_LENGTH = 131_072
MAX_LINE_LENGTH = 1_000_000
MAX_COLUMNS, MAX_ROW_LENGTH = 1_000, 1_000_000
# A chunk is in memory as a whole.
CHUNK_ROWS, CHUNK_CELLS, CHUNK_CHARACTERS = 1_000, 200_000, 1_000_000
_ROWS_PER_BLOCK = 1000
# A hostile file's lines all have the greatest length.
_LINES_PER_BLOCK = 200


def read_rows(stream: BinaryIO, file_format: FileFormat) -> Iterator[list[str]]:
    """Yield rows without empty cells at the end, and without NULs: databases can't store them."""
    stream.seek(0)
    if file_format.kind == FileKind.XLSX:
        source = xlsx.read_rows(stream, file_format.sheets)
    else:
        source = _read_text(stream, file_format)
    with closing(source):
        for number, row in enumerate(filter(any, source), 1):
            while not row[-1]:
                row.pop()
            if len(row) > MAX_COLUMNS:
                details = {"row": number, "columns": len(row), "limit": MAX_COLUMNS}
                raise UnreadableFile("too_many_columns", **details)
            if sum(map(len, row)) > MAX_ROW_LENGTH:
                raise UnreadableFile("row_too_long", row=number, limit=MAX_ROW_LENGTH)
            yield row


def divide_rows(rows: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    chunk: list[list[str]] = []
    cells = characters = 0
    for row in rows:
        length = sum(map(len, row))
        is_full = (
            len(chunk) == CHUNK_ROWS
            or cells + len(row) > CHUNK_CELLS
            or characters + length > CHUNK_CHARACTERS
        )
        if chunk and is_full:
            yield chunk
            chunk, cells, characters = [], 0, 0
        chunk.append(row)
        cells += len(row)
        characters += length
    if chunk:
        yield chunk


def _read_text(stream: BinaryIO, file_format: FileFormat) -> Generator[list[str]]:
    # An empty `newline` keeps line ends, and a carriage return ends a line.
    text = io.TextIOWrapper(stream, file_format.encoding, errors="replace", newline="")
    lines = _Lines(text)
    try:
        if file_format.has_separator_line:
            text.readline()
            lines.number += 1
        if not file_format.delimiter:
            for block in lines.blocks():
                for line in block:
                    cell = line.rstrip("\r\n")
                    if len(cell) > 1 and cell[0] == cell[-1] == '"':
                        cell = cell[1:-1].replace('""', '"')
                    yield [cell]
                lines.forget(len(block))
        elif file_format.is_line_of_addresses:
            for row in chain.from_iterable(_read_csv(lines, file_format)):
                yield from ([cell.strip()] for cell in row)
        else:
            yield from chain.from_iterable(_read_csv(lines, file_format))
    finally:
        # Without this, the wrapper would close the caller's file.
        text.detach()


class _Lines:
    """Reads lines of bounded length, and keeps the current rows' lines for a second reading."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._lines = iter(partial(text.readline, MAX_LINE_LENGTH), "")
        self.kept: list[str] = []
        self.number = 1

    def blocks(self) -> Iterator[list[str]]:
        while block := list(islice(self._lines, _LINES_PER_BLOCK)):
            text = "".join(block)
            if len(text) >= MAX_LINE_LENGTH:
                for number, line in enumerate(block, self.number + len(self.kept)):
                    if len(line) == MAX_LINE_LENGTH:
                        raise UnreadableFile("line_too_long", line=number, limit=MAX_LINE_LENGTH)
            if "\0" in text:
                block = [line.replace("\0", "") for line in block]
            self.kept += block
            yield block

    def forget(self, count: int) -> None:
        del self.kept[:count]
        self.number += count


def _read_csv(lines: _Lines, file_format: FileFormat) -> Iterator[list[list[str]]]:
    csv.field_size_limit(MAX_CELL_LENGTH)
    open_reader = partial(
        csv.reader, delimiter=file_format.delimiter, skipinitialspace=file_format.skips_spaces
    )
    reader = open_reader(chain.from_iterable(lines.blocks()), strict=True)
    read = 0
    while True:
        try:
            rows = list(islice(reader, _ROWS_PER_BLOCK))
        except csv.Error:
            rows = _read_misquoted(lines, reader.line_num - read, open_reader)
        if not rows:
            return
        yield rows
        lines.forget(reader.line_num - read)
        read = reader.line_num


def _read_misquoted(lines: _Lines, count: int, open_reader: Callable[..., Any]) -> list[list[str]]:
    """Accept misplaced quotation marks in a line. An unclosed one would hide rows, so it raises."""
    rows, read = [], 0
    reader = open_reader(lines.kept[:count], strict=True)
    try:
        for row in reader:
            rows.append(row)
            read = reader.line_num
    except csv.Error as error:
        number = lines.number + read
        if "field limit" in str(error):
            raise UnreadableFile("cell_too_long", line=number, limit=MAX_CELL_LENGTH) from error
        if count - read > 1 or "end of data" in str(error):
            raise UnreadableFile("unclosed_quote", line=number) from error
        rows.append(next(open_reader(lines.kept[read:count])))
    return rows
