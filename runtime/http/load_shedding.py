"""How many requests of the API a web worker has in hand at most. Pure.

Whoever offers more than it can answer would make everybody wait: the longer, the more of them there
are. So what comes beyond is refused at once, and what was taken on is answered soon.
"""

from contextvars import ContextVar

# What a worker answers in less than a second, also a slow one; and more than come at the same
# moment by chance.
MAX_CONCURRENT_REQUESTS = 256

_has_a_place: ContextVar[bool] = ContextVar("has_a_place", default=False)


class ConcurrencyLimit:
    def __init__(self, most: int = MAX_CONCURRENT_REQUESTS) -> None:
        self.most = most
        self.in_hand = 0
        # All requests that ever had a place.
        self.entered = 0

    def enter(self) -> bool:
        """Whether there was a place for the request of this thread or greenlet."""
        if self.in_hand >= self.most:
            return False
        self.in_hand += 1
        self.entered += 1
        _has_a_place.set(True)
        return True

    def leave(self) -> None:
        """Once the request is answered, or before it waits for what is no work of this process:
        those who wait for a slow name server must not keep others out."""
        if _has_a_place.get():
            _has_a_place.set(False)
            self.in_hand -= 1


concurrency_limit = ConcurrencyLimit()
