"""Offer tables as CSV files that are safe to open in a spreadsheet."""

import base64
import csv
import unicodedata
from collections.abc import Iterable, Iterator

from django.http import StreamingHttpResponse

# Excel reads a CSV file as UTF-8 only if it starts with this mark.
BYTE_ORDER_MARK = "\ufeff"
# Characters with which a spreadsheet starts a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

Row = list[str | int]


def escape_formula(text: str) -> str:
    """Prefix user input with an apostrophe if a spreadsheet could run it as a formula.

    Spreadsheets may skip leading spaces and invisible characters, and may read a full-width sign
    as the ASCII one.
    """
    is_formula = text.startswith(_FORMULA_STARTS) or _normalize(text).startswith(_FORMULA_STARTS)
    return f"'{text}" if is_formula else text


def _normalize(text: str) -> str:
    # Downloads of large lists have millions of cells, nearly all of them in ASCII.
    if text.isascii():
        return text.lstrip()
    visible = (character for character in text if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFKC", "".join(visible)).lstrip()


def csv_response(filename: str, rows: Iterable[Row]) -> StreamingHttpResponse:
    """Return a response that writes the rows as it is sent, so memory use stays constant."""
    response = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def csv_data_url(rows: Iterable[Row]) -> str:
    """Return a URL that contains the file, for a link with a `download` attribute.

    For a small table that the page already shows and that isn't stored. The link needs no request,
    so it works as long as the page is open.
    """
    content = "".join(csv_lines(rows)).encode()
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content).decode()}"


class _Echo:
    """A file for csv.writer that returns each line instead of storing it."""

    def write(self, text: str) -> str:
        return text


def csv_lines(rows: Iterable[Row], delimiter: str = ",") -> Iterator[str]:
    """Yield the lines of a CSV file, the first of them behind a byte order mark."""
    writer = csv.writer(_Echo(), delimiter=delimiter)
    yield BYTE_ORDER_MARK
    for row in rows:
        yield writer.writerow(row)
