"""Find the character that separates the cells of a text file."""

import csv
import re
from collections import Counter
from typing import NamedTuple

from validation.lists.files.cells import looks_like_address

# For files with one address per line.
NO_DELIMITER = ""
DELIMITERS = (",", ";", "\t", "|")
# Excel reads the delimiter from such a first line, and some programs write it.
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[\r\n]', re.IGNORECASE)
_MAX_ROWS = 200
# Of the cells in a single line.
_MIN_SHARE = 0.9


class _Score(NamedTuple):
    """How well a delimiter fits. The greatest one wins."""

    # In tenths, so that a few odd rows don't outweigh the other criteria.
    rows_with_address: int
    # The share of rows with the usual number of cells.
    consistency: float
    cells: int


def find_separator_line(text: str) -> str | None:
    """Return the delimiter that the first line names, if it does."""
    match = _SEPARATOR_LINE.match(text)
    return match[1] if match else None


def find_delimiter(text: str) -> str:
    """Return the delimiter of the first rows of a file, or NO_DELIMITER."""
    scores = {delimiter: _score(text, delimiter) for delimiter in DELIMITERS}
    fitting = {delimiter: score for delimiter, score in scores.items() if score is not None}
    return max(fitting, key=lambda delimiter: fitting[delimiter], default=NO_DELIMITER)


def is_line_of_addresses(text: str, delimiter: str) -> bool:
    """Return whether the text is a single row of addresses, as copied from an email program."""
    rows = _split(text, delimiter) if delimiter else []
    cells = [cell for row in rows for cell in row if cell.strip()]
    if len(rows) != 1 or len(cells) == 1:
        return False
    # The last cell may be cut.
    return sum(map(looks_like_address, cells)) >= len(cells) * _MIN_SHARE


def _score(text: str, delimiter: str) -> _Score | None:
    rows = _split(text, delimiter)
    widths = Counter(map(len, rows))
    if not widths:
        return None
    usual_width, count = widths.most_common(1)[0]
    if usual_width == 1:
        return None
    with_address = sum(any(map(looks_like_address, row)) for row in rows)
    return _Score(with_address * 10 // len(rows), count / len(rows), usual_width)


def _split(text: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) == _MAX_ROWS:
                break
    except csv.Error:
        # A cell is too long. Reading the file says where.
        pass
    return rows
