"""Notice when the machine itself pauses, as a virtual machine does while its host is busy.

Nothing runs for 10 to 50 ms then, and the calls that wait for that long decide a p99. The server
doesn't cause the pause, so a measurement with one is repeated.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from multiprocessing.connection import Connection
from typing import TypeVar

Result = TypeVar("Result")

# A thread that sleeps for INTERVAL and goes on this much later was paused. Its real-time priority
# preempts everything else on its core.
INTERVAL, PAUSE_SECONDS = 0.002, 0.008
MAX_ATTEMPTS = 4
_PRIORITY = 50


class PauseWatch:
    def __init__(self, watchers: list[Connection]) -> None:
        self._watchers = watchers
        self.repeated = 0

    def measure(self, measure: Callable[[], Result]) -> Result:
        """Return the first measurement without a pause. After MAX_ATTEMPTS, return the last one."""
        self._read_pauses()
        result = measure()
        for _ in range(MAX_ATTEMPTS - 1):
            if not self._read_pauses():
                break
            self.repeated += 1
            result = measure()
        return result

    def _read_pauses(self) -> list[float]:
        """Return the pauses since the last call, in seconds."""
        return list(chain.from_iterable(map(_receive_all, self._watchers)))


def _receive_all(watcher: Connection) -> Iterator[float]:
    while watcher.poll():
        yield watcher.recv()


@contextmanager
def pause_watch() -> Iterator[PauseWatch]:
    """Watch each core. Without the permission for real-time priority, no pauses are noticed."""
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        watchers = []
        for core in os.sched_getaffinity(0):
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_watch, args=(core, sender), daemon=True)
            process.start()
            stack.callback(process.terminate)
            watchers.append(receiver)
        yield PauseWatch(watchers)


def _watch(core: int, sender: Connection) -> None:
    os.sched_setaffinity(0, {core})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except PermissionError:
        # Without it, the core's other processes would look like pauses.
        signal.pause()
    before = time.perf_counter()
    while True:
        time.sleep(INTERVAL)
        now = time.perf_counter()
        if now - before > INTERVAL + PAUSE_SECONDS:
            sender.send(now - before)
        before = now
