"""Delete what is stored of lists, in batches: locks are short, and a killed job keeps progress."""

from runtime.database.batches import delete_in_batches
from validation.models import (
    AddressList,
    DomainBlock,
    ListAddress,
    ListChunk,
    ListDomain,
    ListPart,
)

# Up to 8 MB each, up to some hundred KB, and narrow rows.
_PARTS_AT_ONCE, _CHUNKS_AT_ONCE, _FACTS_AT_ONCE = 4, 50, 5_000
# Deleting the digests of more addresses would take too long for a request.
_MAX_ADDRESSES_NOW = 100_000


def delete_parts(address_list: AddressList) -> None:
    delete_in_batches(ListPart.objects.filter(list=address_list), _PARTS_AT_ONCE)


def delete_facts(address_list: AddressList) -> None:
    """Delete what was found in the rows: digests of addresses, and domains."""
    _delete_digests(address_list.pk)
    delete_domains(address_list)


def delete_rows(address_list: AddressList) -> None:
    """Delete the customer's rows with their results, then what was found in them."""
    _delete_chunks(address_list)
    delete_facts(address_list)


def delete_content(address_list: AddressList) -> None:
    """Delete all of a list but its own row, the customer's data first."""
    AddressList.objects.filter(pk=address_list.pk).update(preview=b"")
    delete_parts(address_list)
    delete_rows(address_list)


def delete_list(address_list: AddressList) -> None:
    """Delete a list. The daily job deletes the digests of a large one."""
    delete_parts(address_list)
    _delete_chunks(address_list)
    delete_domains(address_list)
    AddressList.objects.filter(pk=address_list.pk).delete()
    if address_list.addresses <= _MAX_ADDRESSES_NOW:
        _delete_digests(address_list.pk)


def delete_orphans() -> None:
    """Delete the digests of lists that no longer exist."""
    lists = set(ListAddress.objects.order_by().values_list("list_id", flat=True).distinct())
    for pk in lists - set(AddressList.objects.values_list("pk", flat=True)):
        _delete_digests(pk)


def _delete_chunks(address_list: AddressList) -> None:
    delete_in_batches(ListChunk.objects.filter(list=address_list), _CHUNKS_AT_ONCE)


def delete_domains(address_list: AddressList) -> None:
    delete_in_batches(ListDomain.objects.filter(list=address_list), _FACTS_AT_ONCE)
    delete_in_batches(DomainBlock.objects.filter(list=address_list), _FACTS_AT_ONCE)


def _delete_digests(list_pk: int) -> None:
    delete_in_batches(ListAddress.objects.filter(list_id=list_pk), _FACTS_AT_ONCE)
