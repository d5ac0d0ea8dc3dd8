"""Erase one address from the rows of lists. In unparsed files, parsing erases it."""

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import Account
from engine import AddressParts, canonical_address, parse_address
from lists.models import (
    AddressList,
    ErasedAddress,
    ListAddress,
    ListChunk,
    ParsedList,
    ResultCounts,
)
from lists.models.lists import Dedupe
from lists.models.result_counts import can_become_known
from lists.models.states import READABLE, UNREAD
from lists.packing import RowKind, Rows, pack_lines, unpack_results
from lists.previews import StoredPreview
from validation.addresses import address_hash
from validation.hooks import AddressErasure


def erase_address(*, email: str, account: Account | None) -> int:
    """Erase the address, outside a transaction, and return the number of rows. A hook."""
    # This precedes the search, so that no list is parsed in between.
    with transaction.atomic():
        ErasedAddress.objects.create(account=account, digest=address_hash(email))
        # A process that parses a list now must start over.
        _lists_of(account).filter(state__in=UNREAD).update(leased_until=None, attempts=0)
    return sum(erase_from_list(found, email) for found in _lists_with_address(email, account))


def find_erasure(*, email: str, account: Account | None) -> AddressErasure:
    """Count the lists that `erase_address` would change. A hook."""
    found = list(_lists_with_address(email, account).values_list("account", flat=True))
    readable = _lists_of(account).filter(state__in=READABLE).count()
    return AddressErasure(frozenset(found), len(found), readable)


def _lists_with_address(email: str, account: Account | None) -> QuerySet[AddressList]:
    """Include other aliases of the mailbox."""
    digests = {address_hash(email)}
    parts = parse_address(email.strip())
    if isinstance(parts, AddressParts):
        digests.add(address_hash(canonical_address(parts.local_part, parts.domain)))
    # An index on the digest alone would slow down parsing.
    found = ListAddress.objects.filter(list=OuterRef("pk"), digest__in=digests)
    return _lists_of(account).filter(Exists(found))


def _lists_of(account: Account | None) -> QuerySet[AddressList]:
    return AddressList.objects.filter(account=account) if account else AddressList.objects.all()


def erase_from_list(address_list: AddressList, email: str) -> int:
    """Empty the rows with the address, and return their number."""
    digest = address_hash(email)
    chunks = ListChunk.objects.filter(list=address_list)
    erased = 0
    for pk in list(chunks.values_list("pk", flat=True)):
        if _find(address_list, Rows.unpack(chunks.get(pk=pk).rows), digest):
            erased += _erase_from_chunk(address_list, pk, digest)
    if address_list.dedupe != Dedupe.MAILBOX:
        # The digest of a mailbox also finds its other aliases.
        ListAddress.objects.filter(list=address_list, digest=digest).delete()
    return erased


def _find(address_list: AddressList, rows: Rows, digest: str) -> list[int]:
    return [
        index
        for index, (cells, kind) in enumerate(zip(rows.cells, rows.kinds, strict=True))
        if kind in (RowKind.ADDRESS, RowKind.DUPLICATE)
        and address_hash(address_list.address_in(cells)) == digest
    ]


@transaction.atomic
def _erase_from_chunk(address_list: AddressList, pk: int, digest: str) -> int:
    # Lock the list first, to prevent deadlocks.
    locked = AddressList.objects.lock(address_list)
    chunk = ListChunk.objects.select_for_update().get(pk=pk)
    rows = Rows.unpack(chunk.rows)
    found = _find(address_list, rows, digest)
    if chunk.results:
        addresses = [index for index, kind in enumerate(rows.kinds) if kind == RowKind.ADDRESS]
        results = dict(zip(addresses, unpack_results(chunk.results), strict=True))
        erased = [results.pop(index) for index in found if index in results]
        checked = [result for result in erased if result]
        unknown = sum(map(can_become_known, checked))
        chunk.unknown = max(0, chunk.unknown - unknown)
        chunk.pending = max(0, chunk.pending - (len(erased) - len(checked)))
        chunk.results = pack_lines(results.values())
        counts = ResultCounts()
        for result in checked:
            counts.add(result, -1)
        AddressList.objects.filter(pk=locked.pk).update(**counts.apply_to(locked))
    duplicates = [index for index, kind in enumerate(rows.kinds) if kind == RowKind.DUPLICATE]
    originals = dict(zip(duplicates, rows.originals, strict=True))
    kinds, cells = list(rows.kinds), list(rows.cells)
    for index in found:
        kinds[index], cells[index] = RowKind.EMPTY, []
        originals.pop(index, None)
    chunk.rows = Rows(cells, "".join(kinds), list(originals.values())).pack()
    # A process that checks the chunk now must start over.
    chunk.leased_until = None
    chunk.save(update_fields=["rows", "results", "unknown", "pending", "leased_until"])
    parsed = ParsedList.objects.filter(list=address_list)
    if chunk.first_row == 0 and (first := parsed.first()):
        first.preview = StoredPreview.unpack(first.preview).without_rows(found).pack()
        first.save(update_fields=["preview"])
    return len(found)
