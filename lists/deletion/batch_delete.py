"""Delete in batches with pauses: locks are short, and SQLite's other writers get a turn."""

import math
import time
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from lists.models import (
    AddressList,
    DomainBlock,
    ListAddress,
    ListChunk,
    ListDomain,
    ListPart,
    ParsedList,
)
from lists.models.states import FINAL, READABLE, ListState
from validation.probes import groups

MAX_UPLOAD_TIME = timedelta(hours=24)
CUSTOMER_DATA = (ListPart, ListChunk)
DOMAINS = (ListDomain, DomainBlock)
FACTS = (*DOMAINS, ListAddress)
# Parts and chunks are large, and digests are scattered over their index.
_BATCH_SIZES = {ListPart: 2, ListChunk: 20, ListAddress: 250}
_NARROW_ROWS = 1_000
# Shorter than the lease.
_SWEEP_SECONDS = 10.0
# Customer data in the list's row, which is deleted last.
_CLEARED: dict[str, Any] = {"name": "", "metadata": {}, "typos": {}}


def delete_rows(list_id: int, *tables: type[models.Model], deadline: float = math.inf) -> bool:
    """Delete until the deadline, outside a transaction. Return whether all rows are gone."""
    for table in tables:
        size = _BATCH_SIZES.get(table, _NARROW_ROWS)
        rows = table._default_manager.filter(list=list_id).values("pk")
        while True:
            started = time.monotonic()
            with transaction.atomic():
                deleted, _ = table._default_manager.filter(pk__in=rows[:size]).delete()
            if deleted < size:
                break
            if time.monotonic() > deadline:
                return False
            time.sleep(time.monotonic() - started)
    return True


def delete_content(address_list: AddressList) -> None:
    """Delete all but the list's own row."""
    ParsedList.objects.filter(list=address_list).delete()
    delete_rows(address_list.pk, *CUSTOMER_DATA, *FACTS)


def hide_list(address_list: AddressList) -> None:
    """Make a list unreachable, and lease it for `erase_list`."""
    address_list.leased_until = timezone.now() + AddressList.LEASE
    hide_lists(AddressList.objects.filter(pk=address_list.pk), address_list.leased_until)


def hide_lists(lists: QuerySet[AddressList], leased_until: datetime | None = None) -> None:
    """Make lists unreachable. List processes erase them later."""
    ParsedList.objects.filter(list__in=lists).delete()
    lists.update(deleted_at=timezone.now(), leased_until=leased_until, attempts=0, **_CLEARED)


def erase_list(
    address_list: AddressList, *, seconds: float = _SWEEP_SECONDS, facts_seconds: float = 0
) -> None:
    """Delete a hidden, leased list. If time is up, release the lease."""
    start, pk = time.monotonic(), address_list.pk
    facts_deadline = start + (facts_seconds or seconds)
    if delete_rows(pk, *CUSTOMER_DATA, deadline=start + seconds) and delete_rows(
        pk, *FACTS, deadline=facts_deadline
    ):
        AddressList.deleted.filter(pk=pk).delete()
    else:
        address_list.release(attempts=0)


def delete_orphans() -> None:
    """Delete the digests of deleted lists, which have no foreign key."""
    pk = 0
    # One index lookup per list is faster than a scan.
    while pk := ListAddress.objects.filter(list__gt=pk).aggregate(next=Min("list"))["next"]:
        if not AddressList._base_manager.filter(pk=pk).exists():
            delete_rows(pk, ListAddress)


def sweep_once() -> bool:
    """Delete some unneeded rows. Return False if there are none."""
    hidden = AddressList.deleted.claim()
    if hidden is not None:
        erase_list(hidden)
        return True
    if groups.delete_ended():
        return True
    # Only checks need domains.
    if ended := _find_list(DomainBlock.objects.all(), Q(state__in=FINAL)):
        return delete_rows(ended.pk, *DOMAINS)
    # The file of a ready list may be read again with another encoding, but not this late.
    late = timezone.now() - MAX_UPLOAD_TIME - timedelta(hours=1)
    is_unneeded = ~Q(state__in=READABLE) | Q(state=ListState.READY, updated_at__lt=late)
    if parsed := _find_list(ListPart.objects.all(), is_unneeded):
        return delete_rows(parsed.pk, ListPart)
    return False


def _find_list(rows: QuerySet[Any], condition: Q) -> AddressList | None:
    lists = AddressList.objects.filter(condition, pk__in=rows.order_by().values("list"))
    return lists.first()
