"""Count what can be known about the addresses of a list without the DNS."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from validation.engine.aliases import strip_plus_tag
from validation.engine.domain_data import (
    BUILT_IN_DATA,
    NO_STAFF_DOMAINS,
    DomainData,
    StaffDomains,
)
from validation.engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address

_SHOWN_ROWS, _SHOWN_CELLS, _SHOWN_CHARACTERS = 20, 50, 80
_TOP_DOMAINS = 20
_MAX_DOMAINS = 20_000
_CACHED_DOMAINS = 50_000


class DomainCount(NamedTuple):
    domain: str
    addresses: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The counts of a list. Every row is empty, not an address, bad syntax, or valid."""

    rows: int
    empty: int
    # Text without an @.
    not_address: int
    bad_syntax: int
    valid: int
    # Of the valid ones, repeated addresses included.
    disposable: int
    free_provider: int
    role_account: int
    # The most frequent first. For more than 20,000 domains, the counts of rare ones are too low.
    top_domains: tuple[DomainCount, ...]
    # For display, with long cells and rows cut.
    first_rows: tuple[tuple[str, ...], ...]


class ParsedCell(NamedTuple):
    # Without spaces around it.
    text: str
    # None if it's empty or has no @.
    parts: AddressParts | SyntaxProblem | None


class PreviewCounter:
    """Takes the rows of a list one after the other, in constant memory."""

    def __init__(
        self,
        column: int,
        data: DomainData = BUILT_IN_DATA,
        staff_domains: StaffDomains = NO_STAFF_DOMAINS,
    ) -> None:
        """Count the addresses in a column. The rows must not include the header."""
        self._column = column
        self._data = data
        self._counts: Counter[str] = Counter()
        self._domains: Counter[str] = Counter()
        self._first_rows: list[tuple[str, ...]] = []
        self._find_kinds = _cached_kinds(data, staff_domains)

    def add(self, rows: Iterable[Sequence[str]]) -> list[ParsedCell]:
        """Count the rows, and return what their cells in the column hold."""
        parsed = []
        for row in rows:
            if len(self._first_rows) < _SHOWN_ROWS:
                self._first_rows.append(_clip(row))
            self._counts["rows"] += 1
            cell = row[self._column] if self._column < len(row) else ""
            parsed.append(self._add_address(cell.strip()))
        return parsed

    def result(self) -> Preview:
        counts = self._counts
        top = (DomainCount(*item) for item in self._domains.most_common(_TOP_DOMAINS))
        return Preview(
            counts["rows"],
            counts["empty"],
            counts["not_address"],
            counts["bad_syntax"],
            counts["valid"],
            counts["disposable"],
            counts["free_provider"],
            counts["role_account"],
            tuple(top),
            tuple(self._first_rows),
        )

    def _add_address(self, text: str) -> ParsedCell:
        if not text:
            self._counts["empty"] += 1
            return ParsedCell(text, None)
        if "@" not in text:
            self._counts["not_address"] += 1
            return ParsedCell(text, None)
        parts = parse_address(text)
        if isinstance(parts, SyntaxProblem):
            self._counts["bad_syntax"] += 1
        else:
            self._add_valid(parts)
        return ParsedCell(text, parts)

    def _add_valid(self, parts: AddressParts) -> None:
        self._counts["valid"] += 1
        for kind in self._find_kinds(parts.ascii_domain):
            self._counts[kind] += 1
        if self._data.is_role_account(strip_plus_tag(parts.local_part).lower()):
            self._counts["role_account"] += 1
        self._count_domain(parts.ascii_domain)

    def _count_domain(self, domain: str) -> None:
        self._domains[domain] += 1
        if len(self._domains) > _MAX_DOMAINS:
            self._domains = Counter(dict(self._domains.most_common(_MAX_DOMAINS // 2)))


def _cached_kinds(
    data: DomainData, staff_domains: StaffDomains
) -> Callable[[str], tuple[str, ...]]:
    @lru_cache(_CACHED_DOMAINS)
    def find_kinds(domain: str) -> tuple[str, ...]:
        kinds = {
            "disposable": data.is_disposable(domain, staff_domains),
            "free_provider": domain in data.free_providers,
        }
        return tuple(kind for kind, applies in kinds.items() if applies)

    return find_kinds


def _clip(row: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        cell if len(cell) <= _SHOWN_CHARACTERS else f"{cell[:_SHOWN_CHARACTERS]}…"
        for cell in row[:_SHOWN_CELLS]
    )
