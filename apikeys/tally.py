"""Refusals are counted, not written down: a flood of them must not become a flood of rows.

A web worker counts for itself and writes its counts every few seconds, and when it stops. One that
is killed loses what it counted since.
"""

import logging
import threading
from collections import Counter
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from apikeys.models import ApiKey, RefusalHour

logger = logging.getLogger(__name__)

SECONDS = 3.0
KEPT = timedelta(days=90)


class Counted(NamedTuple):
    account_id: int
    # None: the playground of the dashboard.
    key_id: int | None
    hour: datetime
    code: str


class Tally:
    def __init__(self) -> None:
        self._counts: Counter[Counted] = Counter()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def count(self, account_id: int, key: ApiKey | None, code: str) -> None:
        hour = timezone.now().replace(minute=0, second=0, microsecond=0)
        with self._lock:
            self._counts[Counted(account_id, key.pk if key else None, hour, code)] += 1
            self._write_soon()

    def write(self) -> None:
        """What cannot be written now is written later."""
        counts = self._take()
        while counts:
            counted, calls = counts.popitem()
            try:
                RefusalHour.objects.add(**counted._asdict(), calls=calls)
            except DatabaseError as error:
                logger.warning("Refusals were not counted, and will be later", exc_info=error)
                with self._lock:
                    self._counts.update({**counts, counted: calls})
                    self._write_soon()
                return

    def forget(self) -> None:
        self._take()

    def _write_soon(self) -> None:
        if settings.SERVES_WEB and self._timer is None:
            self._timer = threading.Timer(SECONDS, self._write_now)
            self._timer.daemon = True
            self._timer.start()

    def _take(self) -> Counter[Counted]:
        with self._lock:
            counts, self._counts = self._counts, Counter()
        return counts

    def _write_now(self) -> None:
        with self._lock:
            self._timer = None
        try:
            self.write()
        finally:
            # This thread's own.
            connection.close()


def delete_old_refusals() -> None:
    """A job of the day."""
    RefusalHour.objects.filter(hour__lt=timezone.now() - KEPT).delete()


tally = Tally()
