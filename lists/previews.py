from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple, Self

import orjson

from engine import (
    DOMAIN_DATA,
    NO_STAFF_DOMAINS,
    AddressParts,
    StaffDomains,
    SyntaxProblem,
    hides_mailboxes,
    parse_address,
    strip_plus_tag,
)
from lists.files.cells import read_address
from lists.files.columns import ColumnGuess, FileColumn
from lists.files.text_encoding import Confidence
from lists.models import AddressList
from lists.packing import Stored, pack_lines, unpack_lines
from validation.models import MailHostPace
from validation.probes.egress import egresses

_SHOWN_ROWS, _SHOWN_CELLS, _SHOWN_CHARACTERS = 20, 50, 80
_TOP_DOMAINS = 20
_MAX_DOMAINS = 20_000
_SHARES = ("disposable", "free_provider", "role_account")
_COUNTED = ("valid", *_SHARES, "extractable")
# Shares of fewer addresses could reveal single ones.
_MIN_ADDRESSES_FOR_SHARES = 100


class ParsedCell(NamedTuple):
    text: str
    # None if it's empty or has no @.
    parts: AddressParts | SyntaxProblem | None


class PreviewCounter:
    def __init__(
        self,
        column: int,
        staff_domains: StaffDomains = NO_STAFF_DOMAINS,
        *,
        extracts_addresses: bool = False,
    ) -> None:
        # Every row is empty, not_address (text without an @), bad_syntax, or valid.
        self.counts: Counter[str] = Counter()
        self.first_rows: list[list[str]] = []
        self._column, self._extracts = column, extracts_addresses
        self._staff_domains = staff_domains
        self._domains: Counter[str] = Counter()

    def add(self, rows: Iterable[Sequence[str]]) -> list[ParsedCell]:
        parsed = []
        for row in rows:
            if len(self.first_rows) < _SHOWN_ROWS:
                self.first_rows.append([_clip(cell) for cell in row[:_SHOWN_CELLS]])
            text = read_address(row, self._column, extracts=self._extracts)
            parts = parse_address(text) if "@" in text else None
            if isinstance(parts, AddressParts):
                kind = "valid"
                self._add_valid(parts)
            elif parts is not None:
                kind = "bad_syntax"
            else:
                kind = "not_address" if text else "empty"
            if self._extracts or kind == "bad_syntax":
                other = read_address(row, self._column, extracts=not self._extracts)
                self.counts["extractable"] += text != other
            self.counts["rows"] += 1
            self.counts[kind] += 1
            parsed.append(ParsedCell(text, parts))
        return parsed

    @property
    def top_domains(self) -> list[tuple[str, int]]:
        """Return the most frequent domains. Rare ones may be undercounted."""
        return self._domains.most_common(_TOP_DOMAINS)

    def _add_valid(self, parts: AddressParts) -> None:
        domain, mailbox = parts.ascii_domain, strip_plus_tag(parts.local_part).lower()
        self.counts["disposable"] += DOMAIN_DATA.is_disposable(domain, self._staff_domains)
        self.counts["free_provider"] += domain in DOMAIN_DATA.free_providers
        self.counts["role_account"] += DOMAIN_DATA.is_role_account(mailbox)
        self._domains[domain] += 1
        if len(self._domains) > _MAX_DOMAINS:
            self._domains = Counter(dict(self._domains.most_common(_MAX_DOMAINS // 2)))


def _clip(cell: str) -> str:
    return cell if len(cell) <= _SHOWN_CHARACTERS else f"{cell[:_SHOWN_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class FileFacts:
    # text, xlsx or json
    kind: str
    encoding: str
    delimiter: str
    has_header: bool = False
    header: list[str] = field(default_factory=list)
    # Confidence. An earlier release didn't store it.
    encoding_confidence: str = Confidence.CERTAIN


@dataclass(frozen=True, slots=True)
class StoredPreview:
    """Holds what parsing found, without counts that are columns."""

    file: FileFacts
    # Counted in the first 1,000 rows.
    columns: list[FileColumn]
    guessed_column: int | None
    first_rows: list[list[str]]
    # Counts of rows, including repeated addresses.
    valid: int
    disposable: int
    free_provider: int
    role_account: int
    top_domains: list[tuple[str, int]]
    # Rows with an address among other text. An earlier release didn't count them.
    extractable: int = 0

    @classmethod
    def build(cls, file: FileFacts, guess: ColumnGuess, counter: PreviewCounter) -> Self:
        return cls(
            file,
            list(guess.columns),
            guess.address_column.index if guess.address_column else None,
            counter.first_rows,
            top_domains=counter.top_domains,
            **{name: counter.counts[name] for name in _COUNTED},
        )

    def shares(self, addresses: int) -> dict[str, float]:
        """Return shares of the valid addresses, from 0 to 1. Small lists have none."""
        if addresses < _MIN_ADDRESSES_FOR_SHARES or not self.valid:
            return {}
        return {name: getattr(self, name) / self.valid for name in _SHARES}

    @property
    def mailbox_seconds(self) -> int:
        """Return how long mail servers take at least, at their pace: the busiest domain decides."""
        counts = (n for domain, n in self.top_domains if not hides_mailboxes(domain, None))
        return round(max(counts, default=0) / MailHostPace.START_RATE / len(egresses()))

    def without_rows(self, numbers: Collection[int]) -> Self:
        rows = [[] if number in numbers else row for number, row in enumerate(self.first_rows)]
        return replace(self, first_rows=rows)

    def pack(self) -> bytes:
        return pack_lines([asdict(self)])

    @classmethod
    def of(cls, address_list: AddressList) -> Self:
        return cls.unpack(address_list.parsed.preview)

    @classmethod
    def unpack(cls, stored: Stored) -> Self:
        (line,) = unpack_lines(stored)
        fields = orjson.loads(line)
        fields["file"] = FileFacts(**fields["file"])
        fields["columns"] = [FileColumn(**column) for column in fields["columns"]]
        fields["top_domains"] = [tuple(item) for item in fields["top_domains"]]
        return cls(**fields)
