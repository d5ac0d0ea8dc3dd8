import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from django.db import Error as DatabaseError
from django.db import connection

from runtime.database.leased_rows import LeasedRow

logger = logging.getLogger(__name__)


class Heartbeat:
    """The block may use the lease only inside `paused()`."""

    def __init__(self, row: LeasedRow) -> None:
        self._row = row
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.is_lost = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Enter this before a transaction."""
        with self._lock:
            yield
        # Let other greenlets run, such as heartbeats.
        time.sleep(0)

    def _run(self) -> None:
        interval = self._row.LEASE.total_seconds() / 3
        while not self.is_lost and not self._end.wait(interval):
            with self._lock:
                try:
                    self.is_lost = not self._row.renew()
                except DatabaseError as error:
                    logger.warning("Lease not renewed: %s", error)
                finally:
                    connection.close()
