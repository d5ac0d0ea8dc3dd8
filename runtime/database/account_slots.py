"""Waiting for its row lock, an account's requests could take the whole pool."""

import threading
from weakref import WeakValueDictionary

ACCOUNT_SHARE = 4
MAX_WAIT_SECONDS = 1.0

_slots: WeakValueDictionary[int, threading.Semaphore] = WeakValueDictionary()


class AccountBusy(Exception):
    """Raised when other requests of the account use all of its connections."""


def find_slots(account_id: int, connections: int) -> threading.Semaphore:
    number = max(1, connections // ACCOUNT_SHARE)
    return _slots.setdefault(account_id, threading.BoundedSemaphore(number))
