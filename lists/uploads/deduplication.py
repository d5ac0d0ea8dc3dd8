"""Find repeated addresses and new domains. Only the holder of the list's lease stores them."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine import DOMAIN_DATA, AddressParts, canonical_address, sandbox_word
from lists.bulk_sql import find_addresses, find_domains, insert_addresses, insert_domains
from lists.models import AddressList, DomainBlock
from lists.models.domains import BLOCK_DOMAINS
from lists.models.lists import Dedupe
from lists.packing import RowKind
from lists.previews import ParsedCell
from validation.addresses import address_hash


@dataclass(slots=True)
class Classified:
    kinds: str
    originals: list[int]
    # Rows of ListAddress, ListDomain and DomainBlock.
    addresses: list[tuple[int, str, int]]
    domains: list[tuple[int, str, int, str]]
    blocks: list[DomainBlock]
    sandbox_addresses: int = 0

    def store(self) -> None:
        insert_addresses(self.addresses)
        insert_domains(self.domains)
        DomainBlock.objects.bulk_create(self.blocks)


class Deduplicator:
    def __init__(self, address_list: AddressList) -> None:
        self._list = address_list
        self.domains = 0

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
        sandbox = sum(
            kind == RowKind.ADDRESS and sandbox_word(cell.text) is not None
            for kind, cell in zip(kinds, cells, strict=True)
        )
        domains, blocks = self._find_new_domains(cells)
        return Classified("".join(kinds), originals, new, domains, blocks, sandbox)

    def _digest(self, cell: ParsedCell) -> str:
        if self._list.dedupe == Dedupe.MAILBOX and isinstance(cell.parts, AddressParts):
            return address_hash(canonical_address(cell.parts.local_part, cell.parts.domain))
        return address_hash(cell.text)

    def _find_new_domains(
        self, cells: Sequence[ParsedCell]
    ) -> tuple[list[tuple[int, str, int, str]], list[DomainBlock]]:
        domains = (
            cell.parts.ascii_domain for cell in cells if isinstance(cell.parts, AddressParts)
        )
        # The first rows' domains can be looked up first.
        new = dict.fromkeys(name for name in domains if not DOMAIN_DATA.is_reserved(name))
        for name in find_domains(self._list, new):
            del new[name]
        start = self.domains
        self.domains += len(new)
        rows = [
            (self._list.pk, name, number // BLOCK_DOMAINS, "")
            for number, name in enumerate(new, start)
        ]
        numbers = range(-(-start // BLOCK_DOMAINS), -(-self.domains // BLOCK_DOMAINS))
        return rows, [DomainBlock(list=self._list, number=number) for number in numbers]
