import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from runtime.mail.outbox import Mail, send_due
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
        # Machines may share host name and process id.
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.schedule_at = time.monotonic()
        log_uncaught()
        # The web server's main process must not import Django.
        if settings.METRICS_ADDRESS is not None:
            start_exporter(settings.METRICS_ADDRESS)
        self.flusher = Flusher("background")
        # People wait for codes, so one thread sends emails while the other draws invoices.
        with ThreadPoolExecutor(max_workers=1) as pool:
            slow_loop = pool.submit(self._repeat, self._work)
            slow_loop.add_done_callback(lambda _: self.stop.set())
            try:
                self._repeat(self._send_quick_emails)
            finally:
                self.stop.set()
        slow_loop.result()
        self.flusher.flush()

    def _repeat(self, work: Callable[[], int]) -> None:
        """Repeat the work until stopped, even while the database is unavailable."""
        while not self.stop.is_set():
            close_old_connections()
            try:
                done = work()
            except DatabaseError as error:
                times_unavailable.labels("background").inc()
                logger.warning("Database unavailable, trying again: %s", error)
                done = 0
            if not done:
                self.stop.wait(PAUSE_SECONDS)

    def _send_quick_emails(self) -> int:
        self.flusher.flush()
        return send_due(self.stop.is_set, Mail.objects.without_attachment())

    def _work(self) -> int:
        if settings.SCHEDULER and time.monotonic() >= self.schedule_at:
            self.schedule_at = time.monotonic() + SCHEDULE_SECONDS
            run_daily_if_due(self.holder)
        # Emails wait for the invoices that this draws.
        run_round(self.stop.is_set)
        sent = send_due(self.stop.is_set)
        measure_if_due()
        return sent
