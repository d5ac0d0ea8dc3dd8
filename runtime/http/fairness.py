"""Let short requests go before those that compute for long.

A web worker's greenlets switch only when they wait. A request that computes for more than a few
milliseconds says so with `long_request`, computes in its turn, and calls `let_others_run` after
each small step, outside transactions. Once it has computed for SLICE_SECONDS, that call pauses it:
other requests run, so none of them waits for longer than a slice. Its lookups, of which dozens are
in progress, call `wait_in_line` before each of their steps.

As long as there are short requests, the others compute for at most a fifth of the time. The rest of
the processor is left to what short requests wait for: other workers, and the database. So web
workers share the time of the last short request: a customer's connections may all be those of one
worker, and would share the processor with another worker that computes without a rest.
"""

import itertools
import mmap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# How long a long request computes without a pause.
SLICE_SECONDS = 0.001
# While short requests are expected, a pause lasts for this many times as long as the slice did,
# but not for longer than MAX_REST_SECONDS: a slice is long if the processor was busy otherwise.
REST_PER_SLICE, MAX_REST_SECONDS = 4, 0.02
# How much longer it lasts at most while short requests are in progress, so that a long request is
# slow on a busy worker, but not stuck.
MAX_PAUSE_SECONDS = 0.005
# How many steps of lookups compute for about as long as a slice.
STEPS_PER_SLICE = 4
# How long a step waits for those of other lookups at most. A lookup has about five, and all lookups
# of a batch share a deadline of seconds.
MAX_LINE_SECONDS = 0.2
# After a short request, more are expected for this long.
EXPECTED_SECONDS = 1.0

_turn = threading.Lock()
_line = threading.Lock()
_steps = itertools.count(1)


class _CurrentRequest(threading.local):
    is_long = False
    slice_started_at = 0.0


_current = _CurrentRequest()


class _ShortRequests:
    """Counts the requests of this process that are in progress and don't compute for long.

    Also knows when such a request last ended, in this process or in one that shares this time.
    """

    def __init__(self) -> None:
        self._count = 0
        self._is_none = threading.Event()
        self._is_none.set()
        self._last_ended_at = memoryview(bytearray(8)).cast("d")

    def share(self, memory: mmap.mmap) -> None:
        self._last_ended_at = memoryview(memory).cast("d")

    def add(self, change: int) -> None:
        self._count += change
        if self._count > 0:
            self._is_none.clear()
        else:
            self._is_none.set()

    def record_end(self) -> None:
        self._last_ended_at[0] = time.monotonic()

    def are_expected(self) -> bool:
        return time.monotonic() - self._last_ended_at[0] < EXPECTED_SECONDS

    def wait(self, seconds: float) -> None:
        """Wait until there are none, or the time is over."""
        self._is_none.wait(seconds)


_short_requests = _ShortRequests()


def share_between_processes(memory: mmap.mmap) -> None:
    """Expect short requests also when another process that shares this memory has some.

    The machine's processes have one monotonic clock, and write eight bytes in one go.
    """
    _short_requests.share(memory)


@contextmanager
def request() -> Iterator[None]:
    _current.is_long = False
    _short_requests.add(1)
    try:
        yield
    finally:
        _short_requests.add(-1)
        if not _current.is_long:
            _short_requests.record_end()


@contextmanager
def long_request() -> Iterator[None]:
    """Let other requests go first for as long as this one takes."""
    _current.is_long = True
    _current.slice_started_at = time.monotonic()
    _short_requests.add(-1)
    try:
        yield
    finally:
        _short_requests.add(1)


@contextmanager
def turn() -> Iterator[None]:
    """Wait until no other request of this process computes for long.

    A short request then waits for a slice of one long request, however many there are.
    """
    with _turn:
        _let_short_requests_go_first()
        _current.slice_started_at = time.monotonic()
        yield
        _rest(time.monotonic() - _current.slice_started_at)


def let_others_run() -> None:
    """Pause if this request has computed for a slice. Cheap enough to be called all the time."""
    computed = time.monotonic() - _current.slice_started_at
    if computed >= SLICE_SECONDS:
        _rest(computed)
        _let_short_requests_go_first()
        _current.slice_started_at = time.monotonic()


def wait_in_line() -> None:
    """Let short requests go before a step of a lookup, such as to read replies.

    The replies to many lookups arrive together. Without a line, all of these would compute before
    any other request runs.
    """
    if _short_requests.are_expected() and _line.acquire(timeout=MAX_LINE_SECONDS):
        try:
            if next(_steps) % STEPS_PER_SLICE == 0:
                _rest(SLICE_SECONDS)
                _let_short_requests_go_first()
        finally:
            _line.release()


def drain_events() -> None:
    """Let all other greenlets run until they wait. Replaced by config/server/worker.py."""


def _let_short_requests_go_first() -> None:
    """Wait while short requests are in progress, but only briefly."""
    drain_events()
    _short_requests.wait(MAX_PAUSE_SECONDS)


def _rest(computed: float) -> None:
    """Leave the processor to others if short requests are expected."""
    if _short_requests.are_expected():
        time.sleep(min(REST_PER_SLICE * computed, MAX_REST_SECONDS))
