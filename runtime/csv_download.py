"""Tables for a spreadsheet, as CSV."""

import csv
import unicodedata
from collections.abc import Iterable, Iterator

from django.http import StreamingHttpResponse

# By it spreadsheets know that the letters are Unicode.
BYTE_ORDER_MARK = "\ufeff"
# What a spreadsheet takes for the beginning of a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")

Row = list[str | int]


def escape_formula(typed: str) -> str:
    """What people typed must not calculate in somebody's spreadsheet, which may skip a space or
    what is invisible, and read a full-width sign as the plain one."""
    seen = (letter for letter in typed if unicodedata.category(letter) != "Cf")
    read = unicodedata.normalize("NFKC", "".join(seen)).lstrip()
    return f"'{typed}" if typed.startswith(_FORMULAS) or read.startswith(_FORMULAS) else typed


def csv_response(name: str, lines: Iterable[Row]) -> StreamingHttpResponse:
    """Written while it is read: however long it is, it is never in memory as a whole."""
    answer = StreamingHttpResponse(_written(lines), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


class _Echo:
    """A file for the writer that keeps nothing."""

    def write(self, text: str) -> str:
        return text


def _written(lines: Iterable[Row]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield BYTE_ORDER_MARK
    for line in lines:
        yield writer.writerow(line)
