import logging
import signal
import threading
import time
from typing import Any

from django.db import Error as DatabaseError
from django.db import close_old_connections

from accounts.engine import get_engine
from accounts.webhooks.fan_out import number_events
from accounts.webhooks.metrics import measure_if_due
from accounts.webhooks.queues import Queues
from runtime.database.raw_sql import times_unavailable
from runtime.flusher import Flusher
from runtime.logging.formatters import log_uncaught
from runtime.management.base import DatabaseCommand

logger = logging.getLogger(__name__)

# Pauses start short, as the next event is often about to be committed.
FIRST_PAUSE_SECONDS, PAUSE_SECONDS = 0.02, 0.5


class Command(DatabaseCommand):
    help = (
        "Numbers events and sends webhooks until stopped. Any number of these processes share the "
        "work."
    )

    def handle(self, **_: Any) -> None:
        stop = threading.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: stop.set())
        log_uncaught()
        get_engine()
        flusher = Flusher("webhooks")
        flusher.start()
        self.queues = Queues()
        pause = FIRST_PAUSE_SECONDS
        # Attempts in progress are awaited, which takes 15 s at most.
        while not stop.is_set() or self.queues.turns:
            has_worked = self._work(is_stopping=stop.is_set())
            pause = FIRST_PAUSE_SECONDS if has_worked else min(2 * pause, PAUSE_SECONDS)
            self.queues.wait_for_outcome(pause)
        flusher.flush()

    def _work(self, *, is_stopping: bool) -> bool:
        close_old_connections()
        try:
            measure_if_due()
            has_worked = bool(not is_stopping and number_events())
            return self.queues.step(is_stopping=is_stopping) or has_worked
        except DatabaseError as error:
            times_unavailable.labels("background").inc()
            logger.warning("Database unavailable, trying again: %s", error)
        except Exception:
            logger.exception("Sending webhooks failed")
        # Outcomes that wait to be stored would end the caller's pause.
        time.sleep(PAUSE_SECONDS)
        return False
