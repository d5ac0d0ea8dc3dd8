"""Read the rows of a text file or spreadsheet as lists of text.

Lines and rows are passed on by the thousand, so that the csv module's speed is not lost.
"""

import csv
import io
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import BinaryIO

from validation.lists.files import xlsx
from validation.lists.files.errors import UnreadableFile
from validation.lists.files.formats import FileFormat, Kind

MAX_CELL_LENGTH = 131_072
MAX_LINE_LENGTH = 1_000_000
_ROWS_PER_BLOCK = 1000
# Fewer, because a hostile file has lines of the greatest length.
_LINES_PER_BLOCK = 200


def read_rows(stream: BinaryIO, file_format: FileFormat) -> Iterator[list[str]]:
    """Yield the rows that hold any text, or raise UnreadableFile at the row that can't be read.

    Rows may have different lengths. NUL characters are removed, because databases can't store them.
    """
    stream.seek(0)
    if file_format.kind == Kind.XLSX:
        return xlsx.read_rows(stream, file_format.sheets)
    return filter(any, chain.from_iterable(_read_text(stream, file_format)))


def _read_text(stream: BinaryIO, file_format: FileFormat) -> Iterator[list[list[str]]]:
    # With an empty `newline`, lines keep their ends, and a carriage return ends a line as well.
    text = io.TextIOWrapper(stream, file_format.encoding, errors="replace", newline="")
    lines = _Lines(text)
    try:
        if file_format.has_separator_line:
            text.readline()
            lines.number += 1
        if not file_format.delimiter:
            yield from _read_single_cells(lines)
        elif file_format.is_line_of_addresses:
            for rows in _read_csv(lines, file_format.delimiter):
                yield [[cell.strip()] for row in rows for cell in row]
        else:
            yield from _read_csv(lines, file_format.delimiter)
    finally:
        # Or closing the wrapper would close the caller's file.
        text.detach()


class _Lines:
    """Lines of bounded length. Keeps those of the rows that are being read."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._lines = iter(partial(text.readline, MAX_LINE_LENGTH), "")
        self.kept: list[str] = []
        # Of the first line kept.
        self.number = 1

    def blocks(self) -> Iterator[list[str]]:
        while block := list(islice(self._lines, _LINES_PER_BLOCK)):
            text = "".join(block)
            if len(text) >= MAX_LINE_LENGTH:
                self._check_lengths(block)
            if "\0" in text:
                block = [line.replace("\0", "") for line in block]
            self.kept += block
            yield block

    def _check_lengths(self, block: list[str]) -> None:
        for number, line in enumerate(block, self.number + len(self.kept)):
            if len(line) == MAX_LINE_LENGTH:
                raise UnreadableFile("line_too_long", line=number, limit=MAX_LINE_LENGTH)

    def forget(self, count: int) -> None:
        del self.kept[:count]
        self.number += count


def _read_single_cells(lines: _Lines) -> Iterator[list[list[str]]]:
    for block in lines.blocks():
        yield [[_unquote(line.rstrip("\r\n"))] for line in block]
        lines.forget(len(block))


def _unquote(cell: str) -> str:
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _read_csv(lines: _Lines, delimiter: str) -> Iterator[list[list[str]]]:
    csv.field_size_limit(MAX_CELL_LENGTH)
    reader = csv.reader(chain.from_iterable(lines.blocks()), delimiter=delimiter, strict=True)
    read = 0
    while True:
        try:
            rows = list(islice(reader, _ROWS_PER_BLOCK))
        except csv.Error:
            rows = _read_misquoted(lines, reader.line_num - read, delimiter)
        if not rows:
            return
        yield rows
        lines.forget(reader.line_num - read)
        read = reader.line_num


def _read_misquoted(lines: _Lines, count: int, delimiter: str) -> list[list[str]]:
    """Read rows of which the last has misplaced quotation marks, or raise UnreadableFile.

    In one line, as in `"Jane "JD" Doe",jane@shop.example`, they do no harm. In several lines, a
    mark that is never closed would hide the rows below it.
    """
    rows, read = [], 0
    reader = csv.reader(lines.kept[:count], delimiter=delimiter, strict=True)
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
        rows.append(next(csv.reader(lines.kept[read:count], delimiter=delimiter)))
    return rows
