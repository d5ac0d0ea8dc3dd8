"""What nobody waits for is written a moment later, many at a time, by the web worker itself.

It is written when a worker stops, too. A worker that is killed loses what it had not written yet.
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

SECONDS = 1.0
BATCH_SIZE = 500
# While the database is away. What comes after that is lost.
MAX_BUFFERED = 20_000

_all: "list[WriteBuffer[object]]" = []


class WriteBuffer(Generic[Item]):
    def __init__(self, write: Callable[[list[Item]], None]) -> None:
        self._write = write
        self._things: list[Item] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        _all.append(self)  # type: ignore[arg-type]

    def add(self, thing: Item) -> None:
        with self._lock:
            if len(self._things) < MAX_BUFFERED:
                self._things.append(thing)
            self._write_soon()

    def write(self) -> None:
        """What cannot be written because the database is away is written later."""
        while things := self._take():
            parts = [things]
            try:
                while parts:
                    parts[-1:] = self._write_or_halve(parts[-1])
            except UNAVAILABLE as error:
                times_unavailable.add("later")
                logger.warning("What was to be written waits for the database", exc_info=error)
                with self._lock:
                    self._things = [*chain(*parts), *self._things][:MAX_BUFFERED]
                    self._write_soon()
                return

    def forget(self) -> None:
        with self._lock:
            self._things = []

    def _write_or_halve(self, things: list[Item]) -> list[list[Item]]:
        """What is left to be written of them."""
        try:
            self._write(things)
        except UNAVAILABLE:
            raise
        # One of them cannot be written: it must not take the others with it.
        except Exception as error:
            if len(things) > 1:
                middle = len(things) // 2
                return [things[middle:], things[:middle]]
            logger.warning("Something could not be written", exc_info=error)
        return []

    def _take(self) -> list[Item]:
        with self._lock:
            taken, self._things = self._things[:BATCH_SIZE], self._things[BATCH_SIZE:]
        return taken

    def _write_soon(self) -> None:
        if settings.SERVES_WEB and self._timer is None:
            self._timer = threading.Timer(SECONDS, self._write_now)
            self._timer.daemon = True
            self._timer.start()

    def _write_now(self) -> None:
        try:
            self.write()
        finally:
            # This thread's own.
            connection.close()
            with self._lock:
                # Not sooner: one at a time waits for a database that is silent.
                self._timer = None
                if self._things:
                    self._write_soon()


def flush_all() -> None:
    """A worker that stops."""
    for later in _all:
        later.write()
