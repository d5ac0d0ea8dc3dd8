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
_PARTS_AT_ONCE, _CHUNKS_AT_ONCE, _FACTS_AT_ONCE = 4, 50, 10_000


def delete_parts(address_list: AddressList) -> None:
    delete_in_batches(ListPart.objects.filter(list=address_list), _PARTS_AT_ONCE)


def delete_facts(address_list: AddressList) -> None:
    """Delete what was found in the rows: digests of addresses, and domains."""
    delete_in_batches(ListAddress.objects.filter(list=address_list), _FACTS_AT_ONCE)
    delete_domains(address_list)


def delete_domains(address_list: AddressList) -> None:
    delete_in_batches(ListDomain.objects.filter(list=address_list), _FACTS_AT_ONCE)
    delete_in_batches(DomainBlock.objects.filter(list=address_list), _FACTS_AT_ONCE)


def delete_rows(address_list: AddressList) -> None:
    """Delete the customer's rows with their results, then what was found in them."""
    delete_in_batches(ListChunk.objects.filter(list=address_list), _CHUNKS_AT_ONCE)
    delete_facts(address_list)


def delete_content(address_list: AddressList) -> None:
    """Delete all of a list but its own row, the customer's data first."""
    AddressList.objects.filter(pk=address_list.pk).update(preview=b"")
    delete_parts(address_list)
    delete_rows(address_list)


def delete_list(address_list: AddressList) -> None:
    delete_content(address_list)
    AddressList.objects.filter(pk=address_list.pk).delete()
