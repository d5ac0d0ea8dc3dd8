"""Guess which column holds the addresses, and whether the first row is a header."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from validation.lists.files.cells import looks_like_address

MAX_ROWS = 1000
# A wider table is not a list of addresses. Its other columns can still be chosen by name.
_MAX_COLUMNS = 200
_MIN_SHARE = 0.5
# A column that the header names may hold less.
_MIN_NAMED_SHARE = 0.1
# Of two columns with nearly as many addresses, the header decides.
_NEARLY_AS_MANY = 0.9
# In the languages of most customers.
_EXACT_NAMES = frozenset(
    {
        *("email", "mail", "emailaddress", "mailaddress", "useremail", "emailid"),
        *("correo", "correoelectronico", "correoelectrónico", "courriel", "adresseemail"),
        *("emailadresse", "mailadresse", "emailadres", "adresse", "endereçodeemail", "posta"),
        *("epost", "epostadresse", "sähköposti", "indirizzoemail", "adresemail", "почта"),
    }
)
_PART_OF_NAME = re.compile(r"e-?mail|correo|courriel|e-?post|mail")
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Column:
    """How many cells of a column are addresses, in the rows that were looked at."""

    index: int
    # From the header. Empty if there is none.
    name: str
    # Without empty ones and the header.
    cells: int
    addresses: int
    # Whether the file may have more rows than were looked at.
    is_beginning: bool = False

    @property
    def share(self) -> float:
        return self.addresses / self.cells if self.cells else 0.0

    @property
    def evidence(self) -> str:
        # Rounded down: one cell that is no address makes it less than 100%.
        percent = 100 * self.addresses // self.cells if self.cells else 0
        noun = "cell is an address" if self.cells == 1 else "cells are addresses"
        first = "the first " if self.is_beginning else ""
        return f"{percent}% of {first}{self.cells:,} {noun}"


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    columns: tuple[Column, ...]
    # None if no column looks like addresses.
    address_column: Column | None
    has_header: bool


def guess_columns(rows: Sequence[Sequence[str]], has_header: bool | None = None) -> ColumnGuess:
    """Guess from the first rows of a file. `has_header` is what the customer says, if anything."""
    rows = rows[:MAX_ROWS]
    is_beginning = len(rows) == MAX_ROWS
    if has_header is None:
        has_header = _find_header(rows)
    names = rows[0] if has_header else []
    body = rows[1:] if has_header else rows
    width = min(max(map(len, rows), default=0), _MAX_COLUMNS)
    columns = tuple(_describe(index, names, body, is_beginning) for index in range(width))
    return ColumnGuess(columns, _choose(columns), has_header)


def _find_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds text but no address, although rows below it do."""
    if not rows or any("@" in cell for cell in rows[0]):
        return False
    below = islice(rows, 1, None)
    return any(looks_like_address(cell) for row in below for cell in row) or any(
        map(_is_exact_name, rows[0])
    )


def _describe(
    index: int, names: Sequence[str], rows: Sequence[Sequence[str]], is_beginning: bool
) -> Column:
    cells = [row[index] for row in rows if index < len(row) and row[index].strip()]
    name = names[index].strip() if index < len(names) else ""
    addresses = sum(map(looks_like_address, cells))
    return Column(index, name, len(cells), addresses, is_beginning)


def _choose(columns: Sequence[Column]) -> Column | None:
    fitting = [column for column in columns if _fits(column)]
    most = max((column.addresses for column in fitting), default=0)
    close = [column for column in fitting if column.addresses >= most * _NEARLY_AS_MANY]
    return max(close, key=lambda column: (_rank_name(column.name), column.addresses), default=None)


def _fits(column: Column) -> bool:
    min_share = _MIN_NAMED_SHARE if _rank_name(column.name) else _MIN_SHARE
    return column.addresses > 0 and column.share >= min_share


def _rank_name(name: str) -> int:
    if _is_exact_name(name):
        return 2
    return 1 if _PART_OF_NAME.search(name.lower()) else 0


def _is_exact_name(name: str) -> bool:
    return _SEPARATORS.sub("", name.lower()) in _EXACT_NAMES
