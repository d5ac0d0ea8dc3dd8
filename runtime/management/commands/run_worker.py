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
from runtime.jobs.rounds import run_round
from runtime.logging.formatters import log_uncaught
from runtime.mail.outbox import send_due
from runtime.management.base import DatabaseCommand
from runtime.metrics.exporter import start_exporter

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 1
SCHEDULE_SECONDS = 60


class Command(DatabaseCommand):
    help = (
        "Runs the background worker, which sends emails, pays automatic top-ups, runs the daily "
        "jobs and serves metrics, until stopped."
    )

    def handle(self, **_: Any) -> None:
        self.stop = threading.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: self.stop.set())
        # The random part distinguishes machines with the same host name and process id.
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.schedule_at = time.monotonic()
        log_uncaught()
        # The web server's main process can't serve them: it must not import Django.
        if settings.METRICS_ADDRESS is not None:
            start_exporter(settings.METRICS_ADDRESS)
        flusher = Flusher("background")
        while not self.stop.is_set():
            if not self._work():
                self.stop.wait(PAUSE_SECONDS)
            flusher.flush()
        flusher.stop()

    def _work(self) -> int:
        """Run one round and return the number of emails sent.

        While the database is unavailable, the worker keeps trying.
        """
        close_old_connections()
        try:
            if settings.SCHEDULER and time.monotonic() >= self.schedule_at:
                self.schedule_at = time.monotonic() + SCHEDULE_SECONDS
                run_daily_if_due(self.holder)
            sent = send_due(self.stop.is_set)
            run_round(self.stop.is_set)
            measure_if_due()
            return sent
        except DatabaseError as error:
            times_unavailable.labels("background").inc()
            logger.warning("Database unavailable, trying again: %s", error)
            return 0
