import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from django.conf import settings
from django.core.management import CommandError
from django.db import Error as DatabaseError
from django.db import close_old_connections

from runtime.database.raw_sql import times_unavailable
from runtime.flusher import Flusher
from runtime.logging.formatters import log_uncaught
from runtime.management.base import DatabaseCommand

logger = logging.getLogger(__name__)

# Pauses start short, as more work is often about to be committed.
FIRST_PAUSE_SECONDS = 0.02


class Queue(Protocol):
    """Work that is done in turns, which this process leases."""

    turns: list[Any]

    def step(self, *, is_stopping: bool) -> bool:
        """Return whether there was work."""

    def wait(self, seconds: float) -> None:
        """Wait until there may be work."""


class ProcessCommand(DatabaseCommand):
    """Run until SIGTERM or SIGINT."""

    role: str

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            if settings.LOG_FORMAT != "json":
                raise
            logger.critical("%s", error)
            sys.exit(1)

    def handle(self, **_: Any) -> None:
        self.stop = threading.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: self.stop.set())
        log_uncaught()
        flusher = Flusher(self.role)
        flusher.start()
        # `make serve` starts all of them at once.
        level = logging.INFO if settings.PRODUCTION else logging.DEBUG
        release = {"version": settings.VERSION, "commit": settings.COMMIT}
        logger.log(level, "Started the %s process", self.role, extra=release)
        self.run()
        logger.log(level, "Stopped the %s process", self.role)
        flusher.flush()

    def run(self) -> None:
        raise NotImplementedError

    def attempt(self, work: Callable[[], int]) -> int | None:
        """Return whether there was work, or None if it failed. Leases let it be tried again."""
        close_old_connections()
        try:
            return work()
        except DatabaseError as error:
            times_unavailable.labels("background").inc()
            logger.warning("Database unavailable, trying again: %s", error)
        except Exception:
            logger.exception("Work of the %s process failed", self.role)
        return None

    def run_queue(self, queue: Queue, pause_seconds: float) -> None:
        pause = FIRST_PAUSE_SECONDS
        # Work in progress is awaited.
        while not self.stop.is_set() or queue.turns:
            has_worked = self.attempt(partial(queue.step, is_stopping=self.stop.is_set()))
            pause = FIRST_PAUSE_SECONDS if has_worked else min(2 * pause, pause_seconds)
            if has_worked is None:
                # What waits to be stored would end the other pause.
                time.sleep(pause_seconds)
            queue.wait(pause)
