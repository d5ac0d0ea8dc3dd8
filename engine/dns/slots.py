"""Limit concurrent lookups, in total and for one owner's domains.

An owner can create many names whose lookups hang: they wait for each other only.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

# A lookup takes a socket or two, of about a thousand.
MAX_LOOKUPS, MAX_LOOKUPS_PER_OWNER = 400, 16


class LookupSlots:
    def __init__(
        self, max_lookups: int = MAX_LOOKUPS, max_per_owner: int = MAX_LOOKUPS_PER_OWNER
    ) -> None:
        self._max_per_owner = max_per_owner
        self._all = threading.Semaphore(max_lookups)
        # An owner's slots exist while a lookup refers to them.
        self._by_owner: WeakValueDictionary[str, threading.Semaphore] = WeakValueDictionary()
        self._lock = threading.Lock()
        self.waiting = self.active = 0

    @contextmanager
    def acquire(self, owner: str, seconds: float) -> Iterator[bool]:
        """Yield False if no slot became free in time."""
        ends_at = time.monotonic() + seconds
        # Two threads would each make an owner's slots: setdefault() isn't atomic here.
        with self._lock:
            owner_slots = self._by_owner.setdefault(owner, threading.Semaphore(self._max_per_owner))
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
