"""Refuse API requests beyond a limit: an overload would make every request slow."""

from contextvars import ContextVar

# A slow worker handles these within a second.
MAX_CONCURRENT_REQUESTS = 256

_holds_slot: ContextVar[bool] = ContextVar("holds_slot", default=False)


class ConcurrencyLimit:
    def __init__(self, limit: int = MAX_CONCURRENT_REQUESTS) -> None:
        self.limit = limit
        self.in_progress = 0

    def enter(self) -> bool:
        if self.in_progress >= self.limit:
            return False
        self.in_progress += 1
        _holds_slot.set(True)
        return True

    def leave(self) -> None:
        """Free the slot, at the request's end or before it waits for another server."""
        if _holds_slot.get():
            _holds_slot.set(False)
            self.in_progress -= 1


concurrency_limit = ConcurrencyLimit()
