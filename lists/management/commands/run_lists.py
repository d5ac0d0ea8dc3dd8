import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from accounts.engine import get_engine
from lists.deletion.batch_delete import sweep_once
from lists.processing.running import check_once, parse_once, start_once
from runtime.management.process import FIRST_PAUSE_SECONDS, ProcessCommand

PAUSE_SECONDS, SWEEP_PAUSE_SECONDS = 0.5, 5.0
NICENESS = 19
# Each thread, here a greenlet, parses another account's list: a long file delays only its own.
PARSING_THREADS = 4


class Command(ProcessCommand):
    help = (
        "Parses and checks customers' lists until stopped. Any number of these processes share "
        "the work."
    )
    role = "lists"

    def run(self) -> None:
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
        for _thread in range(PARSING_THREADS):
            self._start_thread(parse_once)
        self._start_thread(start_once)
        self._start_thread(sweep_once, SWEEP_PAUSE_SECONDS)
        self._repeat(check_once)

    def _start_thread(self, *work: Any) -> None:
        threading.Thread(target=self._repeat, args=work, daemon=True).start()

    def _repeat(self, work: Callable[[], bool], pause_seconds: float = PAUSE_SECONDS) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self.stop.is_set():
            if self.attempt(work):
                pause = FIRST_PAUSE_SECONDS
                # Let other greenlets run.
                time.sleep(0)
            else:
                self.stop.wait(pause)
                pause = min(2 * pause, pause_seconds)
