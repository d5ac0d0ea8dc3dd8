"""A stopping web worker writes its buffered rows; a killed one loses them."""

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
# Further items are dropped.
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
        """The items stay in the buffer while the database is unavailable."""
        while True:
            with self._lock:
                items, self._items = self._items[:BATCH_SIZE], self._items[BATCH_SIZE:]
            if not items:
                return
            batches = [items]
            try:
                while batches:
                    batches[-1:] = self._write_or_split(batches[-1])
            except UNAVAILABLE as error:
                times_unavailable.labels("write_buffer").inc()
                logger.warning("Database unavailable, keeping buffered rows", exc_info=error)
                with self._lock:
                    self._items = [*chain(*batches), *self._items][:MAX_BUFFERED]
                    self._schedule()
                return

    def discard(self) -> None:
        with self._lock:
            self._items = []

    def _write_or_split(self, items: list[Item]) -> list[list[Item]]:
        """Return the batches still to write. Halving finds an item that can't be written."""
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

    def _schedule(self) -> None:
        if self._timer is None and settings.SERVES_WEB:
            self._timer = threading.Timer(DELAY_SECONDS, self._flush_in_thread)
            self._timer.daemon = True
            self._timer.start()

    def _flush_in_thread(self) -> None:
        try:
            self.flush()
        finally:
            connection.close()
            with self._lock:
                # At most one thread waits for the database.
                self._timer = None
                if self._items:
                    self._schedule()


def flush_all() -> None:
    for flush in _flush_functions:
        flush()
