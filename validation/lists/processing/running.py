"""Work on lists, one unit after another: parse a list, look up a block, or check a chunk.

Any number of processes and threads do this. Rows are claimed, so no unit is done by two at a time.
"""

from validation.lists.control import start_when_ready
from validation.lists.deletion import storage
from validation.lists.processing.chunks import check_chunk
from validation.lists.processing.completion import begin_recheck, fail_list, finish_round
from validation.lists.processing.domains import look_up_block
from validation.lists.processing.turns import Turns
from validation.lists.uploads.parsing import parse_list
from validation.models import AddressList, DomainBlock, ListChunk
from validation.models.list_states import State

# A unit that ended its process this often is given up, and its list fails.
MAX_ATTEMPTS = 10

_turns = Turns()


def work_once() -> bool:
    """Do one unit of work. Return False if there is none now."""
    return prepare_once() or check_once() or storage.sweep_once()


def prepare_once() -> bool:
    """Parse a list, or start one that was parsed. Return False if there is none."""
    address_list = AddressList.objects.claim()
    if address_list is not None:
        parse_list(address_list)
        return True
    ready = AddressList.objects.of_active_accounts().filter(
        state=State.READY, starts_when_ready=True
    )
    next_ready = ready.order_by("updated_at", "pk").first()
    if next_ready is None:
        return False
    start_when_ready(next_ready)
    return True


def check_once() -> bool:
    """Do one unit of the list whose turn it is. Return False if no list has any."""
    return any(_serve(list_id) for list_id in _turns.lists())


def _serve(list_id: int) -> bool:
    """Do one unit of a list's work. Return False if there is none that this process can do."""
    try:
        return _work_on(list_id)
    except AddressList.DoesNotExist:
        # It was deleted during the work.
        return True


def _work_on(list_id: int) -> bool:
    address_list = AddressList.objects.filter(pk=list_id).defer("preview").first()
    if address_list is None:
        return False
    if address_list.recheck_at is not None:
        return begin_recheck(address_list)
    if address_list.state == State.QUEUED:
        # Not `change_state`: a list that was paused since stays paused.
        queued = AddressList.objects.filter(pk=list_id, state=State.QUEUED)
        queued.update(state=State.RUNNING)
    unit = _claim(address_list)
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


def _claim(address_list: AddressList) -> DomainBlock | ListChunk | None:
    """Claim a block of domains or, once all of them are looked up, a chunk."""
    block = address_list.blocks.claim()
    if block is not None or address_list.blocks.filter(is_done=False).exists():
        return block
    return address_list.chunks.claim()
