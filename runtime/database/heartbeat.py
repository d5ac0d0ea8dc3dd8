"""Renew the lease of a row while work on it goes on, so that leases can be short.

If the process is killed, its row is free again once the short lease has ended. While the process is
alive, however slow it is, another thread keeps the lease.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from django.db import Error as DatabaseError
from django.db import connection

from runtime.database.leased_rows import LeasedRow

logger = logging.getLogger(__name__)


class Heartbeat:
    """Renew a row's lease in a thread.

    with Heartbeat(chunk):
        results = process(chunk)
    with transaction.atomic():
        if chunk.lock_if_held():
            chunk.release(results=results)

    The block itself may use the lease only inside `paused()`.
    """

    def __init__(self, row: LeasedRow) -> None:
        self._row = row
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        # Another process has claimed the row, so this work will be discarded.
        self.is_lost = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the lease as it is. Enter this before a transaction, not in it."""
        with self._lock:
            yield

    def _run(self) -> None:
        interval = self._row.LEASE.total_seconds() / 3
        while not self.is_lost and not self._end.wait(interval):
            with self._lock:
                self._renew()

    def _renew(self) -> None:
        try:
            self.is_lost = not self._row.renew()
        except DatabaseError as error:
            # The next one may succeed in time.
            logger.warning("Lease not renewed: %s", error)
        finally:
            # Of this thread.
            connection.close()
