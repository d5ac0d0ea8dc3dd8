"""Guess which column holds the addresses, and whether the first row is a header."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from lists.files.cells import has_address

_MAX_COLUMNS = 200
_MIN_SHARE = 0.5
# For a column with a name such as “Email”.
_MIN_NAMED_SHARE = 0.1
# If columns have nearly as many addresses, the header decides.
_NEARLY_AS_MANY = 0.9
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
class FileColumn:
    index: int
    name: str
    # Cells with text, below the header.
    cells: int
    addresses: int
    # Whether only the first rows were counted.
    is_beginning: bool = False

    @property
    def share(self) -> float:
        return self.addresses / self.cells if self.cells else 0.0

    @property
    def percent(self) -> int:
        # Round down: one cell without an address makes it less than 100%.
        return 100 * self.addresses // self.cells if self.cells else 0

    @property
    def evidence(self) -> str:
        noun = "cell has an address" if self.cells == 1 else "cells have an address"
        first = "the first " if self.is_beginning else ""
        return f"{self.percent}% of {first}{self.cells:,} {noun}"


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    columns: tuple[FileColumn, ...]
    # None if no column looks like addresses.
    address_column: FileColumn | None
    has_header: bool

    @property
    def best_column(self) -> int:
        most = max(self.columns, key=lambda column: column.addresses, default=None)
        best = self.address_column or most
        return best.index if best else 0


def guess_columns(
    rows: Sequence[Sequence[str]], has_header: bool | None = None, *, is_beginning: bool = False
) -> ColumnGuess:
    """Guess from the first rows. `has_header` is the customer's choice."""
    if has_header is None:
        has_header = _has_header(rows)
    names = rows[0] if has_header else []
    body = rows[1:] if has_header else rows
    width = min(max(map(len, rows), default=0), _MAX_COLUMNS)
    columns = []
    for index in range(width):
        cells = [row[index] for row in body if index < len(row) and row[index].strip()]
        name = names[index].strip() if index < len(names) else ""
        addresses = sum(map(has_address, cells))
        columns.append(FileColumn(index, name, len(cells), addresses, is_beginning))
    return ColumnGuess(tuple(columns), _choose(columns), has_header)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    if not rows or any("@" in cell for cell in rows[0]):
        return False
    below = islice(rows, 1, None)
    return any(has_address(cell) for row in below for cell in row) or any(
        map(_is_exact_name, rows[0])
    )


def _choose(columns: Sequence[FileColumn]) -> FileColumn | None:
    fitting = [
        column
        for column in columns
        if column.addresses
        and column.share >= (_MIN_NAMED_SHARE if _rank_name(column.name) else _MIN_SHARE)
    ]
    most = max((column.addresses for column in fitting), default=0)
    close = [column for column in fitting if column.addresses >= most * _NEARLY_AS_MANY]
    return max(close, key=lambda column: (_rank_name(column.name), column.addresses), default=None)


def _rank_name(name: str) -> int:
    if _is_exact_name(name):
        return 2
    return 1 if _PART_OF_NAME.search(name.lower()) else 0


def _is_exact_name(name: str) -> bool:
    return _SEPARATORS.sub("", name.lower()) in _EXACT_NAMES
