"""Let short requests go before those that compute for long.

A web worker's greenlets switch only when they wait. A request that computes for tens of
milliseconds says so with `long_request`, computes in its turn, and calls `let_others_run` again and
again, outside transactions.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# How long a pause lasts at most, so that a long request is slow on a busy worker, but not stuck.
MAX_PAUSE_SECONDS = 0.01

_turn = threading.Lock()


class _ShortRequests:
    """Counts the requests of this process that are in progress and don't compute for long."""

    def __init__(self) -> None:
        self._count = 0
        self._is_none = threading.Event()
        self._is_none.set()

    def add(self, change: int) -> None:
        self._count += change
        if self._count > 0:
            self._is_none.clear()
        else:
            self._is_none.set()

    def wait(self, seconds: float) -> None:
        """Wait until there are none, or the time is over."""
        self._is_none.wait(seconds)


_short_requests = _ShortRequests()


@contextmanager
def request() -> Iterator[None]:
    _short_requests.add(1)
    try:
        yield
    finally:
        _short_requests.add(-1)


@contextmanager
def long_request() -> Iterator[None]:
    """Let other requests go first for as long as this one takes."""
    _short_requests.add(-1)
    try:
        yield
    finally:
        _short_requests.add(1)


@contextmanager
def turn() -> Iterator[None]:
    """Wait until no other request of this process computes for long.

    A short request then waits for one long one at most, however many there are.
    """
    with _turn:
        let_others_run()
        yield


def let_others_run() -> None:
    """Pause while short requests are in progress, but only briefly."""
    drain_events()
    _short_requests.wait(MAX_PAUSE_SECONDS)


def drain_events() -> None:
    """Let all other greenlets run until they wait. Replaced by config/server/worker.py."""
