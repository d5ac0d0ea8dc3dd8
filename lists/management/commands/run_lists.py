import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.db import Error as DatabaseError
from django.db import close_old_connections

from accounts.engine import get_engine
from lists.deletion.batch_delete import sweep_once
from lists.processing.metrics import measure_if_due
from lists.processing.running import check_once, parse_once, start_once
from runtime.database.raw_sql import times_unavailable
from runtime.flusher import Flusher
from runtime.logging.formatters import log_uncaught
from runtime.management.base import DatabaseCommand

logger = logging.getLogger(__name__)

# Pauses start short, as the next unit is often about to be ready.
FIRST_PAUSE_SECONDS, PAUSE_SECONDS, SWEEP_PAUSE_SECONDS = 0.02, 0.5, 5.0
NICENESS = 19
# Each thread, here a greenlet, parses another account's list: a long file delays only its own.
PARSING_THREADS = 4


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
        # Lists get the CPU time that API calls leave. Linux's batch class doesn't preempt others.
        os.nice(NICENESS)
        if sys.platform == "linux":
            # A container may forbid changing the class.
            with suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        # Exclude the domain data from garbage collection, as web workers do.
        get_engine()
        gc.collect()
        gc.freeze()
        gc.set_threshold(5_000, 10, 10)
        flusher = Flusher("lists")
        flusher.start()
        for _thread in range(PARSING_THREADS):
            self._start_thread(parse_once)
        self._start_thread(start_once)
        self._start_thread(sweep_once, SWEEP_PAUSE_SECONDS)
        self._repeat(measure_and_check)
        flusher.flush()

    def _start_thread(self, *work: Any) -> None:
        threading.Thread(target=self._repeat, args=work, daemon=True).start()

    def _repeat(self, work: Callable[[], bool], pause_seconds: float = PAUSE_SECONDS) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self.stop.is_set():
            if _try(work):
                pause = FIRST_PAUSE_SECONDS
                # Let other greenlets run.
                time.sleep(0)
            else:
                self.stop.wait(pause)
                pause = min(2 * pause, pause_seconds)


def measure_and_check() -> bool:
    measure_if_due()
    return check_once()


def _try(work: Callable[[], bool]) -> bool:
    """Do a unit of work, and return whether there was any. Leases let failed units be retried."""
    close_old_connections()
    try:
        return work()
    except DatabaseError as error:
        times_unavailable.labels("background").inc()
        logger.warning("Database unavailable, trying again: %s", error)
    except Exception:
        logger.exception("Work on a list failed")
    return False
