"""Wait until a list's state changes, for clients that poll."""

import threading
import time

from lists.models import AddressList
from lists.models.states import WORKABLE, ListState
from runtime.database.pool import release_connection
from runtime.http.load_shedding import concurrency_limit

MAX_SECONDS = 30
# The limit in each web worker. Beyond it, clients don't wait.
MAX_WAITING = 100
_INTERVAL = 0.5
# The states that end without the customer.
_PASSING = WORKABLE | {ListState.PARSING}

_slots = threading.BoundedSemaphore(MAX_WAITING)


def wait_for_change(address_list: AddressList, seconds: float) -> None:
    """Return when the state differs, the time is up, or the state can't change."""
    phase: str | None = address_list.phase
    if seconds <= 0 or phase not in _PASSING or not _slots.acquire(blocking=False):
        return
    ends_at = time.monotonic() + seconds
    try:
        # Hold no request slot while waiting, and no connection between reads.
        concurrency_limit.leave()
        lists = AddressList.objects.filter(pk=address_list.pk).only("state", "starts_when_ready")
        while phase == address_list.phase and (seconds_left := ends_at - time.monotonic()) > 0:
            release_connection()
            time.sleep(min(_INTERVAL, seconds_left))
            current = lists.first()
            phase = current.phase if current else None
    finally:
        _slots.release()
