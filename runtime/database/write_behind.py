"""Buffer rows that no caller waits for, and write them in batches about a second later.

A web worker also writes its buffers when it stops. A worker that is killed loses them.
"""

import logging
import threading
from collections.abc import Callable
from itertools import chain
from typing import Generic, TypeVar

from django.conf import settings
from django.db import connection

from runtime.database.raw_sql import UNAVAILABLE, times_unavailable

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

DELAY_SECONDS = 1.0
BATCH_SIZE = 500
# Reached only while the database is unavailable. Further items are dropped.
MAX_BUFFERED = 20_000

_flush_functions: list[Callable[[], None]] = []


class WriteBuffer(Generic[Item]):
    def __init__(self, write: Callable[[list[Item]], None]) -> None:
        self._write = write
        self._items: list[Item] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        _flush_functions.append(self.flush)

    def add(self, item: Item) -> None:
        with self._lock:
            if len(self._items) < MAX_BUFFERED:
                self._items.append(item)
            self._schedule()

    def flush(self) -> None:
        """Write all items. While the database is unavailable, they stay in the buffer."""
        while items := self._take():
            batches = [items]
            try:
                while batches:
                    batches[-1:] = self._write_or_split(batches[-1])
            except UNAVAILABLE as error:
                times_unavailable.labels("later").inc()
                logger.warning("Database unavailable, keeping buffered rows", exc_info=error)
                with self._lock:
                    self._items = [*chain(*batches), *self._items][:MAX_BUFFERED]
                    self._schedule()
                return

    def discard(self) -> None:
        with self._lock:
            self._items = []

    def _write_or_split(self, items: list[Item]) -> list[list[Item]]:
        """Write the items; return the batches that are still to be written.

        If one item can't be written, halving the batch finds it, and the others are written.
        """
        try:
            self._write(items)
        except UNAVAILABLE:
            raise
        except Exception as error:
            if len(items) > 1:
                middle = len(items) // 2
                return [items[middle:], items[:middle]]
            logger.warning("Dropped a buffered row that can't be written", exc_info=error)
        return []

    def _take(self) -> list[Item]:
        with self._lock:
            taken, self._items = self._items[:BATCH_SIZE], self._items[BATCH_SIZE:]
        return taken

    def _schedule(self) -> None:
        if self._timer is None and settings.SERVES_WEB:
            self._timer = threading.Timer(DELAY_SECONDS, self._flush_in_thread)
            self._timer.daemon = True
            self._timer.start()

    def _flush_in_thread(self) -> None:
        try:
            self.flush()
        finally:
            # Django opened it for this thread.
            connection.close()
            with self._lock:
                # Only now: while the database doesn't respond, at most one thread waits for it.
                self._timer = None
                if self._items:
                    self._schedule()


def flush_all() -> None:
    """Write all buffers of a worker that stops."""
    for flush in _flush_functions:
        flush()
