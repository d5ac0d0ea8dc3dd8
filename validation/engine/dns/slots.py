"""How many searches run at the same time, all together and of one owner's domains.

Whoever owns a domain makes any number of names below it, and can let each of them hang: they wait
for each other, and not the customers who ask about something else.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Each takes a socket or two, of which a process has about a thousand.
AT_ONCE, OF_ONE_OWNER = 400, 16


class _Share(threading.Semaphore):
    users = 0


class SearchSlots:
    def __init__(self, at_once: int = AT_ONCE, of_one_owner: int = OF_ONE_OWNER) -> None:
        self._of_one_owner = of_one_owner
        self._all = threading.Semaphore(at_once)
        self._shares: dict[str, _Share] = {}
        # For whoever wants to know.
        self.waiting = self.searching = 0
        self._lock = threading.Lock()

    @contextmanager
    def take(self, owner: str, seconds: float) -> Iterator[bool]:
        """False where none became free in that time."""
        with self._share(owner) as share:
            if not self._acquire(share, seconds):
                yield False
                return
            self.searching += 1
            try:
                yield True
            finally:
                self.searching -= 1
                self._all.release()
                share.release()

    def _acquire(self, share: _Share, seconds: float) -> bool:
        ends_at = time.monotonic() + seconds
        is_ours = False
        self.waiting += 1
        try:
            if not share.acquire(timeout=seconds):
                return False
            try:
                is_ours = self._all.acquire(timeout=max(0.0, ends_at - time.monotonic()))
            finally:
                if not is_ours:
                    share.release()
        finally:
            self.waiting -= 1
        return is_ours

    @contextmanager
    def _share(self, owner: str) -> Iterator[_Share]:
        with self._lock:
            share = self._shares.get(owner)
            if share is None:
                share = self._shares[owner] = _Share(self._of_one_owner)
            share.users += 1
        try:
            yield share
        finally:
            with self._lock:
                share.users -= 1
                if not share.users:
                    del self._shares[owner]
