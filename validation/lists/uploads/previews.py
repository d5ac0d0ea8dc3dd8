"""What parsing found in a list, as it is stored and shown: encrypted, since it has the first rows.

The counts of rows are columns of the list.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Self

from validation.lists.files.columns import ColumnGuess
from validation.lists.files.formats import FileFormat
from validation.lists.files.preview import Preview
from validation.lists.payloads import pack, unpack

JSON = "json"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """How the file was read."""

    # text, xlsx or json
    kind: str
    encoding: str
    is_encoding_guessed: bool
    # Empty for one address per line.
    delimiter: str
    has_header: bool
    # The whole first row if it is a header.
    header: list[str]

    @classmethod
    def of(cls, file_format: FileFormat | None, header: Sequence[str] | None) -> Self:
        """`file_format` is None for addresses that came as JSON, `header` if there is none."""
        kind = file_format.kind.value if file_format else JSON
        encoding = file_format.encoding if file_format else "utf-8"
        is_guessed = file_format.is_encoding_guessed if file_format else False
        delimiter = file_format.delimiter if file_format else ""
        has_header = header is not None
        return cls(kind, encoding, is_guessed, delimiter, has_header, list(header or ()))


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Which share of a column's cells are addresses, in the first 1,000 rows."""

    index: int
    name: str
    cells: int
    addresses: int
    evidence: str


@dataclass(frozen=True, slots=True)
class StoredPreview:
    file: FileFacts
    columns: list[ColumnFacts]
    # The column we would choose. None if none looks like addresses.
    guessed_column: int | None
    first_rows: list[list[str]]
    # Of the rows, repeated addresses included.
    valid: int
    disposable: int
    free_provider: int
    role_account: int
    # Domains and how many addresses they have.
    top_domains: list[tuple[str, int]]

    @classmethod
    def build(cls, file: FileFacts, guess: ColumnGuess, counts: Preview) -> Self:
        columns = [
            ColumnFacts(column.index, column.name, column.cells, column.addresses, column.evidence)
            for column in guess.columns
        ]
        return cls(
            file,
            columns,
            guess.address_column.index if guess.address_column else None,
            [list(row) for row in counts.first_rows],
            counts.valid,
            counts.disposable,
            counts.free_provider,
            counts.role_account,
            [(domain, count) for domain, count in counts.top_domains],
        )

    def without_rows(self, numbers: Collection[int]) -> Self:
        """Return the preview with these rows empty."""
        rows = [[] if number in numbers else row for number, row in enumerate(self.first_rows)]
        return replace(self, first_rows=rows)

    def pack(self) -> bytes:
        return pack(asdict(self))

    @classmethod
    def unpack(cls, stored: bytes) -> Self:
        fields = unpack(stored)
        fields["file"] = FileFacts(**fields["file"])
        fields["columns"] = [ColumnFacts(**column) for column in fields["columns"]]
        fields["top_domains"] = [tuple(item) for item in fields["top_domains"]]
        return cls(**fields)
