import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.db import Error as DatabaseError
from django.db import close_old_connections

from accounts.engine import get_engine
from runtime.database.raw_sql import times_unavailable
from runtime.flusher import Flusher
from runtime.logging.formatters import log_uncaught
from runtime.management.base import DatabaseCommand
from validation.lists.deletion import storage
from validation.lists.processing.metrics import measure_if_due
from validation.lists.processing.running import check_once, prepare_once

logger = logging.getLogger(__name__)

# Pauses start short, because the next unit is often about to be ready: when the last block of
# domains is looked up, for example.
FIRST_PAUSE_SECONDS, PAUSE_SECONDS, SWEEP_PAUSE_SECONDS = 0.02, 0.5, 5.0

# The most that there is.
NICENESS = 19


class Command(DatabaseCommand):
    help = (
        "Parses and checks customers' lists until stopped. Any number of these processes share "
        "the work."
    )

    def handle(self, **_: Any) -> None:
        self.stop = threading.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: self.stop.set())
        log_uncaught()
        _yield_to_calls()
        _collect_garbage_rarely()
        flusher = Flusher("lists")
        flusher.start()
        # In a thread, so that a long file doesn't delay the chunks of other lists. If the process
        # stops first, the lease ends, and another one parses the file from the start.
        threading.Thread(target=self._repeat, args=(prepare_once,), daemon=True).start()
        sweeping = (storage.sweep_once, SWEEP_PAUSE_SECONDS)
        threading.Thread(target=self._repeat, args=sweeping, daemon=True).start()
        self._repeat(_check)
        flusher.flush()

    def _repeat(self, work: Callable[[], bool], pause_seconds: float = PAUSE_SECONDS) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self.stop.is_set():
            if _try(work):
                pause = FIRST_PAUSE_SECONDS
            else:
                self.stop.wait(pause)
                pause = min(2 * pause, pause_seconds)


def _yield_to_calls() -> None:
    """Leave this machine's processors to calls: a list takes the time that they don't need.

    A process of Linux's batch class doesn't interrupt others when it has work again. Both together
    lowered the p99 of single calls during a list from 1.7 to 1.2 times what it is without one.
    """
    os.nice(NICENESS)
    if sys.platform == "linux":
        # A container may forbid it.
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _collect_garbage_rarely() -> None:
    """Exclude the domain data, and what else exists by now, as web workers do."""
    get_engine()
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


def _check() -> bool:
    measure_if_due()
    return check_once()


def _try(work: Callable[[], bool]) -> bool:
    """Do one unit of work, and return whether there was any.

    While the database is unavailable, the process keeps trying. What it claimed is free again once
    the lease has ended, and so is a unit that fails because of a bug.
    """
    close_old_connections()
    try:
        return work()
    except DatabaseError as error:
        times_unavailable.labels("background").inc()
        logger.warning("Database unavailable, trying again: %s", error)
    except Exception:
        logger.exception("Work on a list failed")
    return False
