"""Let short requests go before those that compute for long.

A web worker's greenlets switch only when they wait. A request that computes for tens of
milliseconds says so with `long_request`, computes in its turn, and calls `let_others_run` again and
again, outside transactions. Its lookups, of which dozens are in progress, call `wait_in_line`
before each of their steps.

As long as there are short requests, the others compute for at most half of the time. The rest of
the processor is left to what short requests wait for: other workers, and the database.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# How long a pause lasts at most, so that a long request is slow on a busy worker, but not stuck.
MAX_PAUSE_SECONDS = 0.01
# How long a step of a lookup waits for those of other lookups at most. A lookup has about five.
MAX_LINE_SECONDS = 0.05
# About as long as a step computes.
STEP_REST_SECONDS = 0.002
MAX_REST_SECONDS = 0.03
# After a short request, more are expected for this long.
EXPECTED_SECONDS = 1.0

_turn = threading.Lock()
_line = threading.Lock()
_current = threading.local()


class _ShortRequests:
    """Counts the requests of this process that are in progress and don't compute for long."""

    def __init__(self) -> None:
        self._count = 0
        self._is_none = threading.Event()
        self._is_none.set()
        self.last_ended_at = -EXPECTED_SECONDS

    def add(self, change: int) -> None:
        self._count += change
        if self._count > 0:
            self._is_none.clear()
        else:
            self._is_none.set()

    def are_expected(self) -> bool:
        return time.monotonic() - self.last_ended_at < EXPECTED_SECONDS

    def wait(self, seconds: float) -> None:
        """Wait until there are none, or the time is over."""
        self._is_none.wait(seconds)


_short_requests = _ShortRequests()


@contextmanager
def request() -> Iterator[None]:
    _current.is_long = False
    _short_requests.add(1)
    try:
        yield
    finally:
        _short_requests.add(-1)
        if not _current.is_long:
            _short_requests.last_ended_at = time.monotonic()


@contextmanager
def long_request() -> Iterator[None]:
    """Let other requests go first for as long as this one takes."""
    _current.is_long = True
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
        started = time.monotonic()
        yield
        _rest(min(time.monotonic() - started, MAX_REST_SECONDS))


def wait_in_line() -> None:
    """Let short requests go before a step of a lookup, such as to read replies.

    The replies to many lookups arrive together. Without a line, all of these would compute before
    any other request runs.
    """
    if _short_requests.are_expected() and _line.acquire(timeout=MAX_LINE_SECONDS):
        try:
            let_others_run()
            _rest(STEP_REST_SECONDS)
        finally:
            _line.release()


def let_others_run() -> None:
    """Pause while short requests are in progress, but only briefly."""
    drain_events()
    _short_requests.wait(MAX_PAUSE_SECONDS)


def drain_events() -> None:
    """Let all other greenlets run until they wait. Replaced by config/server/worker.py."""


def _rest(seconds: float) -> None:
    if _short_requests.are_expected():
        time.sleep(seconds)
