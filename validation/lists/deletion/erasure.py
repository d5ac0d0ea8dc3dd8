"""Erase one address from the stored rows of lists.

Files that aren't parsed yet can't be searched: they have any format, or their end is missing.
Instead, the address is remembered as a digest, and parsing empties its rows.
"""

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import Account
from validation.addresses import address_hash
from validation.engine.aliases import canonical_address
from validation.engine.syntax.parsing import AddressParts, parse_address
from validation.engine.verdicts.reasons import Verdict
from validation.lists.payloads import RowKind, Rows, pack_results, unpack_results
from validation.lists.uploads.previews import StoredPreview
from validation.models import AddressList, ErasedAddress, ListAddress, ListChunk
from validation.models.list_states import READABLE, State
from validation.models.lists import Dedupe


def lists_with_address(email: str) -> QuerySet[AddressList]:
    """Return the lists with the address, or with another alias of its mailbox."""
    digests = {address_hash(email)}
    parts = parse_address(email.strip())
    if isinstance(parts, AddressParts):
        digests.add(address_hash(canonical_address(parts.local_part, parts.domain)))
    # One index lookup per list. An index on the digest alone would slow down parsing.
    found = ListAddress.objects.filter(list=OuterRef("pk"), digest__in=digests)
    return AddressList.objects.filter(Exists(found))


def readable_lists(account: Account | None) -> QuerySet[AddressList]:
    """Return the lists with rows that may be read later, and may have any address.

    `account`: None for all.
    """
    lists = AddressList.objects.filter(state__in=READABLE)
    return lists.filter(account=account) if account else lists


@transaction.atomic
def erase_when_parsed(email: str, account: Account | None) -> None:
    """Empty the rows with the address in earlier lists that are parsed from now on.

    Call it before the search for parsed lists, so that no list is parsed in between.
    """
    ErasedAddress.objects.create(account=account, digest=address_hash(email))
    # A process that parses a list now doesn't know about it: another one must start over.
    readable_lists(account).exclude(state=State.READY).update(leased_until=None, attempts=0)


def erase_from_list(address_list: AddressList, email: str) -> int:
    """Empty the rows with the address, delete their results, and return their number.

    The counts of the list stay.
    """
    digest, column = address_hash(email), address_list.column or 0
    chunks = ListChunk.objects.filter(list=address_list).order_by("number")
    erased = 0
    for number in list(chunks.values_list("number", flat=True)):
        rows = Rows.unpack(bytes(chunks.get(number=number).rows))
        if _find(rows, column, digest):
            erased += _erase_from_chunk(address_list, number, column, digest)
    if address_list.dedupe != Dedupe.MAILBOX:
        # The digest of a mailbox finds its other aliases.
        ListAddress.objects.filter(list=address_list, digest=digest).delete()
    return erased


def _find(rows: Rows, column: int, digest: str) -> list[int]:
    """Return which rows have the address in the column."""
    return [
        index
        for index, (cells, kind) in enumerate(zip(rows.cells, rows.kinds, strict=True))
        # A row may be shorter while another column is parsed.
        if kind in (RowKind.ADDRESS, RowKind.DUPLICATE)
        and column < len(cells)
        and address_hash(cells[column]) == digest
    ]


@transaction.atomic
def _erase_from_chunk(address_list: AddressList, number: int, column: int, digest: str) -> int:
    # The list first, as in all transactions, so that none waits for another forever.
    AddressList.objects.lock(address_list)
    chunk = ListChunk.objects.select_for_update().get(list=address_list, number=number)
    rows = Rows.unpack(bytes(chunk.rows))
    found = _find(rows, column, digest)
    if chunk.results:
        _erase_results(chunk, rows.kinds, found)
    chunk.rows = _without(rows, found).pack()
    # A process that checks the chunk now has read the erased rows: it must start over.
    chunk.leased_until = None
    chunk.save(update_fields=["rows", "results", "unknown", "leased_until"])
    if number == 0:
        _erase_from_preview(address_list, found)
    return len(found)


def _erase_results(chunk: ListChunk, kinds: str, found: list[int]) -> None:
    checked = [index for index, kind in enumerate(kinds) if kind == RowKind.ADDRESS]
    results = dict(zip(checked, unpack_results(bytes(chunk.results)), strict=True))
    erased = [results.pop(index) for index in found if index in results]
    unknown = sum(result["verdict"] == Verdict.UNKNOWN for result in erased)
    chunk.unknown = max(0, chunk.unknown - unknown)
    chunk.results = pack_results(list(results.values()))


def _without(rows: Rows, found: list[int]) -> Rows:
    duplicates = [index for index, kind in enumerate(rows.kinds) if kind == RowKind.DUPLICATE]
    originals = dict(zip(duplicates, rows.originals, strict=True))
    kinds, cells = list(rows.kinds), list(rows.cells)
    for index in found:
        kinds[index], cells[index] = RowKind.EMPTY, []
        originals.pop(index, None)
    return Rows(cells, "".join(kinds), list(originals.values()))


def _erase_from_preview(address_list: AddressList, found: list[int]) -> None:
    locked = AddressList.objects.select_for_update(of=("self",)).get(pk=address_list.pk)
    if not locked.preview:
        return
    preview = StoredPreview.unpack(bytes(locked.preview)).without_rows(found)
    AddressList.objects.filter(pk=locked.pk).update(preview=preview.pack())
