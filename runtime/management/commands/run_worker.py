import logging
import os
import secrets
import signal
import socket
import threading
import time
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import close_old_connections

from runtime.database.raw_sql import times_unavailable
from runtime.flusher import Flusher
from runtime.jobs.daily import run_daily_if_due
from runtime.jobs.queue_metrics import measure_if_due
from runtime.logging.formatters import log_uncaught
from runtime.mail.outbox import send_due
from runtime.management.base import DatabaseCommand

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 1
SCHEDULE_SECONDS = 60


class Command(DatabaseCommand):
    help = "The background worker: sends mails and keeps the schedule, until it is told to stop."

    def handle(self, **_: Any) -> None:
        self.stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop.set())
        # Machines may share a name and a process number.
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.schedule_at = time.monotonic()
        log_uncaught()
        pulse = Flusher("background")
        while not self.stop.is_set():
            if not self._work():
                self.stop.wait(PAUSE_SECONDS)
            pulse.flush()
        pulse.end()

    def _work(self) -> int:
        """One round. A database that is away for a while is waited for."""
        close_old_connections()
        try:
            if settings.SCHEDULER and time.monotonic() >= self.schedule_at:
                self.schedule_at = time.monotonic() + SCHEDULE_SECONDS
                run_daily_if_due(self.holder)
            sent = send_due(self.stop.is_set)
            measure_if_due()
            return sent
        except DatabaseError as error:
            times_unavailable.add("background")
            logger.warning("The database does not answer, trying again: %s", error)
            return 0
