"""A number of slots that all processes of a machine share.

Each slot is a byte of a file, taken by a lock on that byte (fcntl). The kernel frees the locks of a
process that dies, so that no slot is ever lost.
"""

import fcntl
import os
import threading
from pathlib import Path


class MachineSlots:
    def __init__(self, file: Path, size: int) -> None:
        # Open as long as the process lives: closing it would free the locks of all its slots.
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        self._size = size
        # A process is not in its own way: what it holds already, the kernel would give it again.
        self._ours: set[int] = set()
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """Take a free slot and return its number, or None if there is none."""
        with self._lock:
            for slot in range(self._size):
                if slot not in self._ours and self._take(slot):
                    self._ours.add(slot)
                    return slot
        return None

    def are_taken(self) -> bool:
        """Return whether there is no free slot at this moment."""
        slot = self.take()
        if slot is not None:
            self.free(slot)
        return slot is None

    def free(self, slot: int) -> None:
        with self._lock:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, slot)
            self._ours.discard(slot)

    def _take(self, slot: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, slot)
        except BlockingIOError:
            return False
        return True
