import os
import secrets
import socket
import threading
import time
from collections.abc import Callable

from django.conf import settings

from runtime.jobs.daily import run_daily_if_due
from runtime.jobs.machine_metrics import measure_certificate_if_due
from runtime.jobs.queue_metrics import measure_if_due
from runtime.jobs.rounds import run_round
from runtime.mail.outbox import Mail, send_due
from runtime.management.process import ProcessCommand
from runtime.metrics.exporter import start_exporter

PAUSE_SECONDS = 1
SCHEDULE_SECONDS = 60


class Command(ProcessCommand):
    help = (
        "Runs the background worker, which sends emails, pays automatic top-ups, runs the daily "
        "jobs and serves metrics, until stopped."
    )
    role = "background"

    def run(self) -> None:
        # Machines may share host name and process id.
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.schedule_at = time.monotonic()
        # The web server's main process must not import Django.
        if settings.METRICS_ADDRESS is not None:
            start_exporter(settings.METRICS_ADDRESS)
        # People wait for codes, so one thread sends emails while the other draws invoices.
        slow_work = threading.Thread(target=self._repeat, args=(self._work,))
        slow_work.start()
        quick = Mail.objects.filter(attachment="")
        self._repeat(lambda: send_due(self.stop.is_set, quick))
        slow_work.join()

    def _repeat(self, work: Callable[[], int]) -> None:
        while not self.stop.is_set():
            if not self.attempt(work):
                self.stop.wait(PAUSE_SECONDS)

    def _work(self) -> int:
        if settings.SCHEDULER and time.monotonic() >= self.schedule_at:
            self.schedule_at = time.monotonic() + SCHEDULE_SECONDS
            run_daily_if_due(self.holder)
        # Emails wait for the invoices that this draws.
        run_round(self.stop.is_set)
        sent = send_due(self.stop.is_set)
        measure_if_due()
        measure_certificate_if_due()
        return sent
