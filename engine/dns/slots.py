"""Limit concurrent lookups, in total and for one owner's domains.

An owner can create many names whose lookups hang: they wait for each other only.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# A lookup takes a socket or two, of about a thousand.
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
        self.waiting = self.active = 0
        self._lock = threading.Lock()

    @contextmanager
    def acquire(self, owner: str, seconds: float) -> Iterator[bool]:
        """Yield False if no slot became free in time."""
        ends_at = time.monotonic() + seconds
        with self._lock:
            owner_slots = self._by_owner.get(owner)
            if owner_slots is None:
                owner_slots = self._by_owner[owner] = _OwnerSlots(self._max_per_owner)
            owner_slots.users += 1
        has_owner_slot = is_acquired = False
        try:
            self.waiting += 1
            try:
                has_owner_slot = owner_slots.acquire(timeout=seconds)
                if has_owner_slot:
                    is_acquired = self._all.acquire(timeout=max(0.0, ends_at - time.monotonic()))
            finally:
                self.waiting -= 1
            self.active += is_acquired
            yield is_acquired
        finally:
            if is_acquired:
                self.active -= 1
                self._all.release()
            if has_owner_slot:
                owner_slots.release()
            with self._lock:
                owner_slots.users -= 1
                if not owner_slots.users:
                    del self._by_owner[owner]
