"""Find repeated addresses and new domains among the next rows of a list.

What was found before is in the database, so memory doesn't depend on the list's length. Only the
process that holds the list's lease adds to it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from validation.addresses import address_hash
from validation.engine.aliases import canonical_address
from validation.engine.domain_data import BUILT_IN_DATA
from validation.engine.syntax.parsing import AddressParts
from validation.lists.bulk_rows import (
    find_addresses,
    find_domains,
    insert_addresses,
    insert_domains,
)
from validation.lists.files.preview import ParsedCell
from validation.lists.payloads import RowKind
from validation.models import AddressList, DomainBlock
from validation.models.list_domains import BLOCK_DOMAINS
from validation.models.lists import Dedupe


@dataclass(slots=True)
class Classified:
    """What the rows of a chunk are, and what must be stored with them."""

    kinds: str
    originals: list[int]
    # Rows of ListAddress, ListDomain and DomainBlock.
    addresses: list[tuple[int, str, int]]
    domains: list[tuple[int, str, int, str]]
    blocks: list[DomainBlock]

    def store(self) -> None:
        """Store the new addresses and domains."""
        insert_addresses(self.addresses)
        insert_domains(self.domains)
        DomainBlock.objects.bulk_create(self.blocks)

    @property
    def duplicates(self) -> int:
        return len(self.originals)

    @property
    def to_check(self) -> int:
        return self.kinds.count(RowKind.ADDRESS)


class Deduplicator:
    def __init__(self, address_list: AddressList) -> None:
        self._list = address_list
        self._domains = 0

    def classify(self, cells: Sequence[ParsedCell], first_row: int) -> Classified:
        digests = [self._digest(cell) if cell.parts else None for cell in cells]
        known = find_addresses(self._list, [digest for digest in digests if digest is not None])
        kinds, originals, new = [], [], []
        for row, (cell, digest) in enumerate(zip(cells, digests, strict=True), first_row):
            if digest is None:
                kinds.append(RowKind.NOT_ADDRESS if cell.text else RowKind.EMPTY)
                continue
            original = known.setdefault(digest, row)
            if original == row:
                new.append((self._list.pk, digest, row))
            if original == row or self._list.dedupe == Dedupe.OFF:
                kinds.append(RowKind.ADDRESS)
            else:
                kinds.append(RowKind.DUPLICATE)
                originals.append(original)
        domains = self._find_new_domains(cells)
        blocks = self._find_new_blocks(len(domains))
        return Classified("".join(kinds), originals, new, domains, blocks)

    def _digest(self, cell: ParsedCell) -> str:
        if self._list.dedupe == Dedupe.MAILBOX and isinstance(cell.parts, AddressParts):
            return address_hash(canonical_address(cell.parts.local_part, cell.parts.domain))
        return address_hash(cell.text)

    def _find_new_domains(self, cells: Sequence[ParsedCell]) -> list[tuple[int, str, int, str]]:
        # In the order of the rows, so that the first rows can be checked first.
        names = dict.fromkeys(_domains_to_look_up(cells))
        for name in find_domains(self._list, names):
            del names[name]
        start = self._domains
        self._domains += len(names)
        return [
            (self._list.pk, name, number // BLOCK_DOMAINS, "")
            for number, name in enumerate(names, start)
        ]

    def _find_new_blocks(self, new_domains: int) -> list[DomainBlock]:
        first = self._domains - new_domains
        numbers = range(-(-first // BLOCK_DOMAINS), -(-self._domains // BLOCK_DOMAINS))
        return [DomainBlock(list=self._list, number=number) for number in numbers]


def _domains_to_look_up(cells: Sequence[ParsedCell]) -> Iterator[str]:
    for cell in cells:
        if isinstance(cell.parts, AddressParts):
            domain = cell.parts.ascii_domain
            if not BUILT_IN_DATA.is_reserved(domain):
                yield domain
