"""What nobody waits for is written a moment later, many at a time, by the web worker itself.

It is written when a worker stops, too. One that is killed loses what it had not written yet: so
nothing of value is kept here.
"""

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)

Thing = TypeVar("Thing")

SECONDS = 1.0
MOST_AT_ONCE = 500
# While the database is away. What comes after that is lost.
MOST_KEPT = 20_000

_all: "list[Later[object]]" = []


class Later(Generic[Thing]):
    def __init__(self, write: Callable[[list[Thing]], None]) -> None:
        self._write = write
        self._things: list[Thing] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        _all.append(self)  # type: ignore[arg-type]

    def add(self, thing: Thing) -> None:
        with self._lock:
            if len(self._things) < MOST_KEPT:
                self._things.append(thing)
            self._write_soon()

    def write(self) -> None:
        """What cannot be written because the database is away is written later."""
        while things := self._take():
            try:
                self._write_in_parts(things)
            except (OperationalError, InterfaceError) as error:
                logger.warning("What was to be written waits for the database", exc_info=error)
                with self._lock:
                    self._things = (things + self._things)[:MOST_KEPT]
                    self._write_soon()
                return

    def forget(self) -> None:
        with self._lock:
            self._things = []

    def _write_in_parts(self, things: list[Thing]) -> None:
        try:
            self._write(things)
        except (OperationalError, InterfaceError):
            raise
        except DatabaseError as error:
            # One of them cannot be written: it must not take the others with it.
            if len(things) == 1:
                logger.warning("Something could not be written", exc_info=error)
                return
            middle = len(things) // 2
            self._write_in_parts(things[:middle])
            self._write_in_parts(things[middle:])

    def _take(self) -> list[Thing]:
        with self._lock:
            taken, self._things = self._things[:MOST_AT_ONCE], self._things[MOST_AT_ONCE:]
        return taken

    def _write_soon(self) -> None:
        if settings.SERVES_WEB and self._timer is None:
            self._timer = threading.Timer(SECONDS, self._write_now)
            self._timer.daemon = True
            self._timer.start()

    def _write_now(self) -> None:
        with self._lock:
            self._timer = None
        try:
            self.write()
        finally:
            # This thread's own.
            connection.close()


def write_all() -> None:
    """A worker that stops."""
    for later in _all:
        later.write()
