import csv
import re
from collections import Counter
from typing import NamedTuple

from lists.files.cells import has_address, looks_like_address

NO_DELIMITER = ""
DELIMITERS = (",", ";", "\t", "|")
# Excel reads the delimiter from such a first line.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[\r\n]', re.IGNORECASE)
_MAX_ROWS = 200
_MIN_SHARE = 0.9


class _Score(NamedTuple):
    """The greatest score wins."""

    # Counted in tenths, so that a few odd rows don't outweigh the other fields.
    rows_with_address: int
    # The share of rows with the usual number of cells.
    consistency: float
    cells: int


def find_separator_line(text: str) -> str | None:
    match = _SEPARATOR_LINE.match(text)
    return match[1] if match else None


def find_delimiter(text: str) -> str:
    scores: dict[str, _Score] = {}
    for delimiter in DELIMITERS:
        rows = _split(text, delimiter)
        widths = Counter(map(len, rows)).most_common(1)
        if widths and widths[0][0] > 1:
            usual_width, count = widths[0]
            with_address = sum(any(map(looks_like_address, row)) for row in rows)
            tenths = with_address * 10 // len(rows)
            scores[delimiter] = _Score(tenths, count / len(rows), usual_width)
    return max(scores, key=lambda delimiter: scores[delimiter], default=NO_DELIMITER)


def has_spaces_before_quotes(text: str, delimiter: str) -> bool:
    """Return whether more cells are addresses if a quotation mark may follow a space."""
    if not delimiter or f'{delimiter} "' not in text:
        return False
    shares = []
    for skips_spaces in (False, True):
        rows = _split(text, delimiter, skips_spaces=skips_spaces)
        cells = [cell for row in rows for cell in row if cell.strip()]
        shares.append(sum(map(has_address, cells)) / max(1, len(cells)))
    return shares[0] < shares[1]


def is_line_of_addresses(text: str, delimiter: str, *, skips_spaces: bool = False) -> bool:
    """Return whether the text is one row of addresses, as email programs write it."""
    rows = _split(text, delimiter, skips_spaces=skips_spaces) if delimiter else []
    cells = [cell for row in rows for cell in row if cell.strip()]
    if len(rows) != 1 or len(cells) == 1:
        return False
    # The last cell may be cut.
    return sum(map(has_address, cells)) >= len(cells) * _MIN_SHARE


def _split(text: str, delimiter: str, *, skips_spaces: bool = False) -> list[list[str]]:
    rows: list[list[str]] = []
    lines = text.splitlines(keepends=True)
    try:
        for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=skips_spaces):
            if row:
                rows.append(row)
            if len(rows) == _MAX_ROWS:
                break
    except csv.Error:
        # A cell is too long: reading the file says where.
        pass
    return rows
