"""Limit how many API requests a web worker handles concurrently.

Without a limit, an overload makes every request slow, and the more clients retry, the slower. So
requests above the limit are refused immediately, and admitted ones get a response soon.
"""

from contextvars import ContextVar

# Low enough that even a slow worker handles all of them within a second, and high enough that no
# normal burst of requests reaches it.
MAX_CONCURRENT_REQUESTS = 256

_holds_slot: ContextVar[bool] = ContextVar("holds_slot", default=False)


class ConcurrencyLimit:
    def __init__(self, limit: int = MAX_CONCURRENT_REQUESTS) -> None:
        self.limit = limit
        self.in_progress = 0
        # The number of requests admitted since the process started.
        self.admitted = 0

    def enter(self) -> bool:
        """Return whether the request of this thread or greenlet is admitted."""
        if self.in_progress >= self.limit:
            return False
        self.in_progress += 1
        self.admitted += 1
        _holds_slot.set(True)
        return True

    def leave(self) -> None:
        """Free the request's slot, if it still has one.

        Called when the request is done, and earlier if it has to wait for another server: requests
        that wait for a slow name server must not use up the slots.
        """
        if _holds_slot.get():
            _holds_slot.set(False)
            self.in_progress -= 1


concurrency_limit = ConcurrencyLimit()
