"""Delete what is stored of lists, in batches: locks are short, and a killed process keeps progress.

After each batch, the deletion pauses for as long as the batch took. Without this, the charges of
other customers would wait on SQLite, which has one writer at a time.
"""

import math
import time
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Min, QuerySet
from django.utils import timezone

from validation.models import (
    AddressList,
    DomainBlock,
    ListAddress,
    ListChunk,
    ListDomain,
    ListPart,
)
from validation.models.list_states import FINAL, State

# Up to 8 MB each, up to some hundred KB, and narrow rows. A batch takes about 50 ms at most on
# SQLite. Digests are slow to delete, because each is on another page of its index.
_PARTS_AT_ONCE, _CHUNKS_AT_ONCE, _FACTS_AT_ONCE, _DIGESTS_AT_ONCE = 2, 20, 1_000, 250
# Shorter than the lease.
_SWEEP_SECONDS = 10.0


def delete_parts(address_list: AddressList) -> None:
    _run(_batches(ListPart.objects.filter(list=address_list), _PARTS_AT_ONCE))


def delete_facts(address_list: AddressList) -> None:
    """Delete what was found in the rows: digests of addresses, and domains."""
    _run(_delete_facts(address_list))


def delete_domains(address_list: AddressList) -> None:
    _run(_delete_domains(address_list))


def delete_rows(address_list: AddressList) -> None:
    """Delete the customer's rows with their results, then what was found in them."""
    _run(_delete_chunks(address_list))
    delete_facts(address_list)


def delete_content(address_list: AddressList) -> None:
    """Delete all of a list but its own row, the customer's data first."""
    AddressList.objects.filter(pk=address_list.pk).update(preview=b"")
    delete_parts(address_list)
    delete_rows(address_list)


def hide_list(address_list: AddressList) -> None:
    """Make a list unreachable, for `erase_list`. The caller has the first lease for that."""
    now = timezone.now()
    address_list.deleted_at, address_list.leased_until = now, now + AddressList.LEASE
    address_list.preview = b""
    address_list.save(update_fields=["deleted_at", "leased_until", "preview"])


def hide_lists(lists: QuerySet[AddressList]) -> None:
    """Make lists unreachable. List processes or the daily job erase them."""
    lists.update(deleted_at=timezone.now(), leased_until=None, attempts=0, preview=b"")


def erase_list(
    address_list: AddressList, *, seconds: float = _SWEEP_SECONDS, facts_seconds: float = 0
) -> None:
    """Delete a hidden list, whose lease the caller holds, and release it if time is up.

    A list process deletes the rest. `facts_seconds`: the time for digests and domains, which are
    no data of the customer, if all of it isn't used up by then.
    """
    start = time.monotonic()
    customer_data = chain(
        _batches(ListPart.objects.filter(list=address_list), _PARTS_AT_ONCE),
        _delete_chunks(address_list),
    )
    is_done = _run(customer_data, start + seconds) and _run(
        _delete_facts(address_list), start + (facts_seconds or seconds)
    )
    if is_done:
        AddressList.deleted.filter(pk=address_list.pk).delete()
    else:
        address_list.release(attempts=0)


def delete_orphans() -> None:
    """Delete the digests of lists that no longer exist. No foreign key does this."""
    pk = 0
    # One index lookup per list, instead of a scan of all digests.
    while pk := ListAddress.objects.filter(list__gt=pk).aggregate(next=Min("list"))["next"]:
        # Hidden lists exist.
        if not AddressList._base_manager.filter(pk=pk).exists():
            _run(_batches(ListAddress.objects.filter(list=pk), _DIGESTS_AT_ONCE))


def sweep_once() -> bool:
    """Delete some of what lists no longer need. Return False if there is nothing."""
    hidden = AddressList.deleted.claim()
    if hidden is not None:
        erase_list(hidden)
        return True
    ended = _find_list(DomainBlock.objects.all(), FINAL)
    if ended is not None:
        # Only checks need them.
        delete_domains(ended)
        return True
    parsed = _find_list(ListPart.objects.all(), set(State) - {State.UPLOADING, State.PARSING})
    if parsed is not None:
        delete_parts(parsed)
    return parsed is not None


def _find_list(rows: QuerySet[Any], states: Collection[State]) -> AddressList | None:
    """Return a list in one of the states that has some of the rows."""
    lists = AddressList.objects.filter(pk__in=rows.order_by().values("list"), state__in=states)
    return lists.defer("preview").first()


def _delete_chunks(address_list: AddressList) -> Iterator[None]:
    return _batches(ListChunk.objects.filter(list=address_list), _CHUNKS_AT_ONCE)


def _delete_facts(address_list: AddressList) -> Iterator[None]:
    digests = ListAddress.objects.filter(list=address_list)
    return chain(_delete_domains(address_list), _batches(digests, _DIGESTS_AT_ONCE))


def _delete_domains(address_list: AddressList) -> Iterator[None]:
    domains = ListDomain.objects.filter(list=address_list)
    blocks = DomainBlock.objects.filter(list=address_list)
    return chain(_batches(domains, _FACTS_AT_ONCE), _batches(blocks, _FACTS_AT_ONCE))


def _run(batches: Iterator[None], deadline: float = math.inf) -> bool:
    """Delete until the deadline. Return whether everything is deleted."""
    return all(time.monotonic() <= deadline for _ in batches)


def _batches(rows: QuerySet[Any], size: int) -> Iterator[None]:
    """Delete the rows, and yield after each batch. Run it outside a transaction."""
    while True:
        started = time.monotonic()
        with transaction.atomic():
            found = rows.values("pk")[:size]
            deleted, _ = rows.model._default_manager.filter(pk__in=found).delete()
        if deleted < size:
            return
        yield
        time.sleep(time.monotonic() - started)
