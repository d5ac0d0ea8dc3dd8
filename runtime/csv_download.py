import base64
import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator

from django.http import StreamingHttpResponse

from runtime.unicode import show_invisible

# Excel needs it to read UTF-8.
BYTE_ORDER_MARK = "\ufeff"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# Numbers and phone numbers. Without a name or a call, no formula can do harm.
_NUMBER = re.compile(r"[-+\d .,()/%$€£]*(( ?x|ext\.?) ?\d+|\de[-+]?\d+)?", re.IGNORECASE)
# A program (DDE), or a function that reaches out of the file.
_CALL = re.compile(r"\|.*!|\b(hyperlink|webservice|import\w+|image|rtd|dde\w*) *\(", re.IGNORECASE)

Row = list[str | int]


def escape_formula(text: str) -> str:
    return f"'{text}" if _is_formula(text) else text


def to_cell(value: str | int | None) -> str | int:
    """Return harmless, visible text, or a number. None is empty, and a bool yes or no."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape_formula(show_invisible(value)) if isinstance(value, str) else value


def _is_formula(text: str) -> bool:
    if not text.isascii():
        # Spreadsheets skip invisible characters, and read full-width signs as ASCII.
        visible = (character for character in text if unicodedata.category(character) != "Cf")
        text = unicodedata.normalize("NFKC", "".join(visible))
    is_sign = text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS)
    return is_sign and not _NUMBER.fullmatch(text)


def csv_response(filename: str, rows: Iterable[Row]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def csv_data_url(rows: Iterable[Row]) -> str:
    content = "".join(csv_lines(rows)).encode()
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content).decode()}"


class _Echo:
    def write(self, text: str) -> str:
        return text


def csv_lines(
    rows: Iterable[Row], delimiter: str = ",", *, keep_formulas: bool = False
) -> Iterator[str]:
    """Escape formulas even within a cell: spreadsheets may split at other separators."""
    writer = csv.writer(_Echo(), delimiter=delimiter)
    others = ",;\t\r\n".replace(delimiter, "")
    parts = re.compile(f"([{others}])([^{others}]+)")
    signs = re.compile(f'((?:^|[{others}])[ "]*)(?=[-+])')
    yield BYTE_ORDER_MARK
    for row in rows:
        line = writer.writerow(row)
        if not keep_formulas and parts.search(line):
            line = writer.writerow([parts.sub(_escape_part, str(cell)) for cell in row])
        if not keep_formulas and _CALL.search(line):
            # Split elsewhere, a number can begin a formula: -1,5+cmd|…
            pieces = re.split(f"[{others}]", line)
            if any(_is_formula(piece.strip('" ')) for piece in pieces):
                cells = [signs.sub(r"\1'", str(cell)) for cell in row]
                line = writer.writerow([parts.sub(_escape_part, cell) for cell in cells])
        yield line


def _escape_part(match: re.Match[str]) -> str:
    separator, part = match.groups()
    return f"{separator}'{part}" if _is_formula(part.lstrip('" ')) else match[0]
