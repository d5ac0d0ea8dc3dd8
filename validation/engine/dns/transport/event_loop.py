"""Run many lookups in one thread, each in a greenlet: while one waits for replies, others go on.

Threads would pass on the interpreter's lock at each system call, which takes almost as long as the
lookups. Web workers don't need this: gevent makes all of their requests greenlets.
"""

import select
import selectors
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

import greenlet

_thread = threading.local()
T = TypeVar("T")
R = TypeVar("R")

# Descriptors that are ready, each with its events.
Ready = list[tuple[int, int]]

# How often the loop looks at the clock, and how often a task tries to acquire a lock.
_TICK_SECONDS, _LOCK_SECONDS = 0.05, 0.005
_EVENTS = {select.POLLIN: selectors.EVENT_READ, select.POLLOUT: selectors.EVENT_WRITE}


class EventLoop:
    """Belongs to the thread, or greenlet, that created it."""

    def __init__(self) -> None:
        self.caller = greenlet.getcurrent()
        # The longest time, in seconds, for which a task could have gone on, but had to wait for
        # other tasks or for the processor.
        self.lag = 0.0
        self._selector = selectors.DefaultSelector()
        # The tasks that wait, and until when.
        self._waiting: dict[_Task, float] = {}
        self._awake_at = time.monotonic()

    def map(self, function: Callable[[T], R], values: Iterable[T], *, at_once: int) -> Iterator[R]:
        """Call the function for each value, and yield the results as they become known."""
        results: list[R] = []
        remaining = iter(values)
        try:
            while self._start(lambda v: results.append(function(v)), remaining, at_once):
                self._resume()
                yield from results
                results.clear()
        finally:
            for task in list(self._waiting):
                task.throw(greenlet.GreenletExit)
            self._selector.close()

    def wait(self, events: dict[int, int], seconds: float) -> Ready:
        """Let other tasks go on until one of the descriptors is ready, or time is up."""
        task = greenlet.getcurrent()
        for descriptor, mask in events.items():
            self._selector.register(descriptor, _EVENTS[mask], task)
        self._waiting[task] = time.monotonic() + seconds
        try:
            ready: Ready = self.caller.switch()
            return ready
        finally:
            del self._waiting[task]
            for descriptor in events:
                self._selector.unregister(descriptor)

    def _start(self, run: Callable[[T], None], values: Iterator[T], at_once: int) -> bool:
        """Start tasks, of which `at_once` may wait. Return whether there are any."""
        has_tasks = bool(self._waiting)
        for value in islice(values, at_once - len(self._waiting)):
            _Task(self, run).switch(value)
            has_tasks = True
        return has_tasks

    def _resume(self) -> None:
        """Wait until tasks can go on, and let them."""
        if not self._waiting:
            return
        started = time.monotonic()
        seconds = max(0.0, min(_TICK_SECONDS, min(self._waiting.values()) - started))
        # What has arrived before time was up counts. Later, it would be too late to look.
        due = [task for task, until in self._waiting.items() if until <= started]
        ready: dict[_Task, Ready] = defaultdict(list)
        for key, mask in self._selector.select(seconds):
            ready[key.data].append((key.fd, mask))
        now = time.monotonic()
        self.lag = max(self.lag, started - self._awake_at, now - started - seconds)
        self._awake_at = now
        for task in dict.fromkeys([*ready, *due]):
            task.switch(ready.get(task, []))


class _Task(greenlet.greenlet):
    """A call that the loop runs."""

    def __init__(self, loop: EventLoop, run: Callable[..., object]) -> None:
        super().__init__(run, loop.caller)
        self.loop = loop


class Poller:
    """Like `select.poll()`, but a task that waits lets the other tasks of its loop go on.

    Who waits may change: a probe is started by one lookup, and finished by any other.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._events: dict[int, int] = {}

    def register(self, descriptor: int, events: int) -> None:
        self._poll.register(descriptor, events)
        self._events[descriptor] = events

    def modify(self, descriptor: int, events: int) -> None:
        self._poll.modify(descriptor, events)
        self._events[descriptor] = events

    def unregister(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        del self._events[descriptor]

    def poll(self, milliseconds: float) -> Ready:
        loop = _current_loop()
        if loop is not None:
            return loop.wait(self._events, milliseconds / 1000)
        ready = self._poll.poll(milliseconds)
        before_going_on = getattr(_thread, "before_going_on", None)
        if ready and before_going_on is not None:
            before_going_on()
        return ready


@contextmanager
def going_on_after(pause: Callable[[], None]) -> Iterator[None]:
    """Call `pause` each time this thread has waited for replies, before it reads them."""
    _thread.before_going_on = pause
    try:
        yield
    finally:
        del _thread.before_going_on


def acquire(lock: "threading.Lock | threading.Semaphore", seconds: float | None = None) -> bool:
    """Acquire a lock whose holder may wait for replies. Return False if time runs out.

    A task that blocked its thread would keep a holder in the same thread from releasing it.
    """
    loop = _current_loop()
    if loop is None:
        return lock.acquire() if seconds is None else lock.acquire(timeout=seconds)
    ends_at = None if seconds is None else time.monotonic() + seconds
    while not lock.acquire(blocking=False):
        if ends_at is not None and time.monotonic() >= ends_at:
            return False
        loop.wait({}, _LOCK_SECONDS)
    return True


def _current_loop() -> EventLoop | None:
    task = greenlet.getcurrent()
    return task.loop if isinstance(task, _Task) else None
