import logging
import signal
import threading
import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import Error as DatabaseError
from django.db import close_old_connections

from accounts.engine import get_engine
from runtime.database.raw_sql import times_unavailable
from runtime.flusher import Flusher
from runtime.logging.formatters import log_uncaught
from runtime.management.base import DatabaseCommand
from validation.probes.egress import move_probes
from validation.probes.metrics import measure_if_due
from validation.probes.queue import ProbeQueue

logger = logging.getLogger(__name__)

# Pauses start short, as the next check is often about to be committed.
FIRST_PAUSE_SECONDS, PAUSE_SECONDS = 0.02, 0.25


class Command(DatabaseCommand):
    help = (
        "Asks mail servers whether mailboxes exist, until stopped. Any number of these processes "
        "share the work."
    )

    def handle(self, **_: Any) -> None:
        if not settings.PROBE_MAILBOX_CHECKS:
            raise CommandError("Mailbox checks are off. Set PROBE_MAILBOX_CHECKS=on to run them.")
        stop = threading.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: stop.set())
        log_uncaught()
        get_engine()
        flusher = Flusher("probes")
        flusher.start()
        move_probes()
        queue = ProbeQueue()
        pause = FIRST_PAUSE_SECONDS
        # Conversations in progress are awaited, or repeated after the lease if this is killed.
        while not stop.is_set() or queue.turns:
            has_worked = self._work(queue, is_stopping=stop.is_set())
            pause = FIRST_PAUSE_SECONDS if has_worked else min(2 * pause, PAUSE_SECONDS)
            queue.wait(pause)
        flusher.flush()

    def _work(self, queue: ProbeQueue, *, is_stopping: bool) -> bool:
        close_old_connections()
        try:
            measure_if_due()
            return queue.step(is_stopping=is_stopping)
        except DatabaseError as error:
            times_unavailable.labels("background").inc()
            logger.warning("Database unavailable, trying again: %s", error)
        except Exception:
            logger.exception("Mailbox checks failed")
        # Answers that wait to be stored would end the caller's pause.
        time.sleep(PAUSE_SECONDS)
        return False
