"""Any number of processes claim and do units of work on lists."""

import itertools

from django.db.models import F, Q
from django.utils import timezone

from lists.completion import begin_recheck, fail_list, finish_round
from lists.deletion.batch_delete import sweep_once
from lists.lifecycle import start_when_ready
from lists.models import AddressList, DomainBlock
from lists.models.states import WORKABLE, ListState
from lists.processing.chunks import check_chunk
from lists.processing.domain_lookups import look_up_block
from lists.uploads.parsing import parse_list

# If a unit ends its process this often, the list fails.
MAX_ATTEMPTS = 10


class Turns:
    """Decides whose turn it is: an account, then one of its lists."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._last: dict[int, int] = {}

    def lists(self) -> list[int]:
        waiting = Q(state=ListState.RECHECKING, recheck_at__gt=timezone.now())
        lists = AddressList.objects.filter(state__in=WORKABLE).of_active_accounts().exclude(waiting)
        by_age = lists.order_by(F("served_at").asc(nulls_first=True), "pk")
        rows = list(by_age.values_list("pk", "account_id"))
        self._last = {account: self._last.get(account, 0) for _, account in rows}
        # The stable sort keeps the order of each account's lists.
        rows.sort(key=lambda row: self._last[row[1]])
        return [pk for pk, _ in rows]

    def record(self, address_list: AddressList) -> None:
        self._last[address_list.account_id] = next(self._numbers)
        AddressList.objects.filter(pk=address_list.pk).update(served_at=timezone.now())


_turns = Turns()


def work_once() -> bool:
    """Do one unit of work. Return False if there is none."""
    return parse_once() or start_once() or check_once() or sweep_once()


def parse_once() -> bool:
    address_list = AddressList.objects.claim()
    if address_list is not None:
        parse_list(address_list)
    return address_list is not None


def start_once() -> bool:
    ready = AddressList.objects.of_active_accounts().filter(
        state=ListState.READY, starts_when_ready=True
    )
    next_ready = ready.order_by("updated_at", "pk").first()
    if next_ready is not None:
        start_when_ready(next_ready)
    return next_ready is not None


def check_once() -> bool:
    for list_id in _turns.lists():
        try:
            if _work_on(list_id):
                return True
        except AddressList.DoesNotExist:
            # It was deleted during the work.
            return True
    return False


def _work_on(list_id: int) -> bool:
    address_list = AddressList.objects.filter(pk=list_id).first()
    if address_list is None:
        return False
    if address_list.recheck_at is not None:
        return begin_recheck(address_list)
    if address_list.state == ListState.QUEUED:
        # Unlike `change_state`, this leaves a list paused.
        queued = AddressList.objects.filter(pk=list_id, state=ListState.QUEUED)
        queued.update(state=ListState.RUNNING, progress_marks=[])
    # Chunks wait for the lookup of all domains.
    block = address_list.blocks.claim()
    is_waiting = block is None and address_list.blocks.filter(is_done=False).exists()
    unit = block or (None if is_waiting else address_list.chunks.claim())
    if unit is None:
        return finish_round(address_list)
    _turns.record(address_list)
    if unit.attempts > MAX_ATTEMPTS:
        fail_list(address_list)
    elif isinstance(unit, DomainBlock):
        look_up_block(address_list, unit)
    else:
        check_chunk(address_list, unit)
    return True
