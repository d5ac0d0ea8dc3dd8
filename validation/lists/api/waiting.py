"""Wait until a list's state changes, for clients that poll."""

import threading
import time

from runtime.database.pool import release_connection
from runtime.http.load_shedding import concurrency_limit
from validation.models import AddressList
from validation.models.list_states import State

MAX_SECONDS = 30
# In each web worker. Further requests get the list without waiting.
MAX_WAITING = 50
_INTERVAL = 0.5
# The states that end without the customer. There is nothing to wait for in the others.
_PASSING = frozenset({State.PARSING, State.QUEUED, State.RUNNING, State.RECHECKING})

_slots = threading.BoundedSemaphore(MAX_WAITING)


def wait_for_change(address_list: AddressList, seconds: float) -> None:
    """Return when the state differs from the list's, after this time, or if it can't change."""
    if seconds <= 0 or not _is_passing(address_list) or not _slots.acquire(blocking=False):
        return
    try:
        _poll(address_list, time.monotonic() + seconds)
    finally:
        _slots.release()


def _is_passing(address_list: AddressList) -> bool:
    is_starting = address_list.state == State.READY and address_list.starts_when_ready
    return is_starting or address_list.state in _PASSING


def _poll(address_list: AddressList, ends_at: float) -> None:
    """Read the state again and again. It holds no request slot, and no connection in between."""
    concurrency_limit.leave()
    current = AddressList.objects.filter(pk=address_list.pk).values_list("state", flat=True)
    state: str | None = address_list.state
    while state == address_list.state and (seconds_left := ends_at - time.monotonic()) > 0:
        release_connection()
        time.sleep(min(_INTERVAL, seconds_left))
        state = current.first()
