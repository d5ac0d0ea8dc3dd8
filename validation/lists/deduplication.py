"""Find repeated addresses and new domains among the next rows of a list.

What was found before is in the database, so memory doesn't depend on the list's length. Only the
process that holds the list's lease adds to it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from validation.addresses import address_digest
from validation.engine.aliases import canonical_address
from validation.engine.domain_data import BUILT_IN_DATA
from validation.engine.syntax import AddressParts
from validation.lists.files.preview import ParsedCell
from validation.lists.payloads import RowKind
from validation.models import AddressList, DomainBlock, ListAddress, ListDomain
from validation.models.lists import BLOCK_DOMAINS, Dedupe


@dataclass(slots=True)
class Classified:
    """What the rows of a chunk are, and what must be stored with them."""

    kinds: str
    originals: list[int]
    addresses: list[ListAddress]
    domains: list[ListDomain]
    blocks: list[DomainBlock] = field(default_factory=list)

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
        known = self._find_rows({digest for digest in digests if digest is not None})
        kinds, originals, new = [], [], []
        for row, (cell, digest) in enumerate(zip(cells, digests, strict=True), first_row):
            if digest is None:
                kinds.append(RowKind.NOT_ADDRESS if cell.text else RowKind.EMPTY)
                continue
            original = known.setdefault(digest, row)
            if original == row:
                new.append(ListAddress(list=self._list, digest=digest, row=row))
            if original == row or self._list.dedupe == Dedupe.OFF:
                kinds.append(RowKind.ADDRESS)
            else:
                kinds.append(RowKind.DUPLICATE)
                originals.append(original)
        domains = self._find_new_domains(cells)
        return Classified("".join(kinds), originals, new, domains, self._find_new_blocks(domains))

    def _digest(self, cell: ParsedCell) -> bytes:
        if self._list.dedupe == Dedupe.MAILBOX and isinstance(cell.parts, AddressParts):
            return address_digest(canonical_address(cell.parts.local_part, cell.parts.domain))
        return address_digest(cell.text)

    def _find_rows(self, digests: set[bytes]) -> dict[bytes, int]:
        """Return where these addresses occur first, if they did before."""
        rows = ListAddress.objects.filter(list=self._list, digest__in=digests)
        return {bytes(digest): row for digest, row in rows.values_list("digest", "row")}

    def _find_new_domains(self, cells: Sequence[ParsedCell]) -> list[ListDomain]:
        # In the order of the rows, so that the first rows can be checked first.
        names = dict.fromkeys(_domains_to_look_up(cells))
        known = ListDomain.objects.filter(list=self._list, domain__in=names)
        for name in known.values_list("domain", flat=True):
            del names[name]
        start = self._domains
        self._domains += len(names)
        return [
            ListDomain(list=self._list, domain=name, block=number // BLOCK_DOMAINS)
            for number, name in enumerate(names, start)
        ]

    def _find_new_blocks(self, domains: Sequence[ListDomain]) -> list[DomainBlock]:
        first = self._domains - len(domains)
        numbers = range(-(-first // BLOCK_DOMAINS), -(-self._domains // BLOCK_DOMAINS))
        return [DomainBlock(list=self._list, number=number) for number in numbers]


def _domains_to_look_up(cells: Sequence[ParsedCell]) -> Iterator[str]:
    for cell in cells:
        if isinstance(cell.parts, AddressParts):
            domain = cell.parts.ascii_domain
            if not BUILT_IN_DATA.is_reserved(domain):
                yield domain
