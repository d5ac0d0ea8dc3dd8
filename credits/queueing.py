"""Callers of one account wait for each other before they take a database connection, not in it.

They all change the account's one wallet. If each held a connection while it waits for that row, a
burst of one customer would leave none for the others, and the one whose turn it is would wait for a
processor that is busy with those who wait. Each process has queues of its own; between processes
the database decides.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, OperationalError

from accounts.models import Account

# A queue that moves is only slow; in one where nobody was served for so long, the database is away.
# Then the caller is told to come back.
STANDSTILL_SECONDS = 1.8
LONGEST_WAIT_SECONDS = 10.0


class Queue:
    def __init__(self, standstill_seconds: float = STANDSTILL_SECONDS) -> None:
        self._standstill_seconds = standstill_seconds
        self._lock = threading.Lock()
        self.moved_at = 0.0

    @contextmanager
    def turn(self) -> Iterator[None]:
        self._wait()
        try:
            yield
        except DatabaseError:
            raise
        except BaseException:
            self.moved_at = time.monotonic()
            raise
        else:
            self.moved_at = time.monotonic()
        finally:
            self._lock.release()

    def _wait(self) -> None:
        came_at = time.monotonic()
        remaining = self._standstill_seconds
        while not self._lock.acquire(timeout=max(remaining, 0)):
            gives_up_at = min(
                max(came_at, self.moved_at) + self._standstill_seconds,
                came_at + LONGEST_WAIT_SECONDS,
            )
            remaining = gives_up_at - time.monotonic()
            if remaining <= 0:
                raise OperationalError("Too many requests of one account wait to be charged.")


# Accounts that share a queue now and then lose nothing but a moment.
_QUEUES = tuple(Queue() for _ in range(256))


@contextmanager
def turn_of(account: Account) -> Iterator[None]:
    with _QUEUES[account.pk % len(_QUEUES)].turn():
        yield
