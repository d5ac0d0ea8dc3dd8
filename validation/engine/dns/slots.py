"""Limit how many lookups run at the same time, in total and for one owner's domains.

The owner of a domain can create any number of names below it and let each of them hang. Those
lookups wait for each other instead of delaying checks of other domains.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from validation.engine.dns.transport.event_loop import acquire

# Each lookup takes a socket or two, and a process has about a thousand.
MAX_LOOKUPS, MAX_LOOKUPS_PER_OWNER = 400, 16


class _OwnerSlots(threading.Semaphore):
    users = 0


class LookupSlots:
    def __init__(
        self, max_lookups: int = MAX_LOOKUPS, max_per_owner: int = MAX_LOOKUPS_PER_OWNER
    ) -> None:
        self._max_per_owner = max_per_owner
        self._all = threading.Semaphore(max_lookups)
        self._by_owner: dict[str, _OwnerSlots] = {}
        # Lookups that wait for a slot, and lookups that hold one.
        self.waiting = self.active = 0
        self._lock = threading.Lock()

    @contextmanager
    def acquire(self, owner: str, seconds: float) -> Iterator[bool]:
        """Hold a slot. Yield False if none became free in time."""
        with self._slots_for(owner) as owner_slots:
            if not self._acquire(owner_slots, seconds):
                yield False
                return
            self.active += 1
            try:
                yield True
            finally:
                self.active -= 1
                self._all.release()
                owner_slots.release()

    def _acquire(self, owner_slots: _OwnerSlots, seconds: float) -> bool:
        ends_at = time.monotonic() + seconds
        is_acquired = False
        self.waiting += 1
        try:
            if not acquire(owner_slots, seconds):
                return False
            try:
                is_acquired = acquire(self._all, max(0.0, ends_at - time.monotonic()))
            finally:
                if not is_acquired:
                    owner_slots.release()
        finally:
            self.waiting -= 1
        return is_acquired

    @contextmanager
    def _slots_for(self, owner: str) -> Iterator[_OwnerSlots]:
        with self._lock:
            owner_slots = self._by_owner.get(owner)
            if owner_slots is None:
                owner_slots = self._by_owner[owner] = _OwnerSlots(self._max_per_owner)
            owner_slots.users += 1
        try:
            yield owner_slots
        finally:
            with self._lock:
                owner_slots.users -= 1
                if not owner_slots.users:
                    del self._by_owner[owner]
