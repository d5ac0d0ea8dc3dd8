"""Callers of one account wait for each other before they take a database connection, not in it.

They all change the account's one wallet. If each held a connection while it waits for that row, a
burst of one customer would leave none for the others, and the one whose turn it is would wait for a
processor that is busy with those who wait. Each process has queues of its own; between processes
the database decides.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError

from accounts.models import Account

# Accounts that share a queue now and then lose nothing but a moment.
_QUEUES = tuple(threading.Lock() for _ in range(256))
# Then the caller is told to come back, as by a database that does not answer.
PATIENCE_SECONDS = 1.8


@contextmanager
def turn_of(account: Account) -> Iterator[None]:
    queue = _QUEUES[account.pk % len(_QUEUES)]
    if not queue.acquire(timeout=PATIENCE_SECONDS):
        raise OperationalError("Too many requests of one account wait to be charged.")
    try:
        yield
    finally:
        queue.release()
