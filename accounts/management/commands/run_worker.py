import logging
import os
import signal
import socket
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import Error as DatabaseError
from django.db import close_old_connections

from accounts.outbox import deliver_due
from accounts.schedule import run_daily_if_due

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 1
SCHEDULE_EVERY = 60


class Command(BaseCommand):
    help = "The background worker: sends mails and keeps the schedule, until it is told to stop."

    def handle(self, **_: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        holder = f"{socket.gethostname()}:{os.getpid()}"
        rounds = 0
        while not stop.is_set():
            sent = self._work(holder, scheduled=rounds % SCHEDULE_EVERY == 0)
            rounds += 1
            if not sent:
                stop.wait(PAUSE_SECONDS)

    @staticmethod
    def _work(holder: str, *, scheduled: bool) -> int:
        """One round. A database that is away for a while is waited for."""
        close_old_connections()
        try:
            if scheduled and settings.SCHEDULER:
                run_daily_if_due(holder)
            return deliver_due()
        except DatabaseError as error:
            logger.warning("The database does not answer, trying again: %s", error)
            return 0
