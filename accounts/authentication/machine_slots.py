"""A fixed number of slots that all processes of a machine share.

Each slot is a byte of a file, which a process takes by locking that byte (fcntl). The kernel frees
the locks of a process that dies, so it never leaks a slot.
"""

import fcntl
import os
import threading
from pathlib import Path


class MachineSlots:
    def __init__(self, file: Path, size: int) -> None:
        # Never closed: closing the file would free all slots of this process.
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        self._size = size
        # A process can lock a byte again that it has locked, so its own slots are tracked here.
        self._ours: set[int] = set()
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """Take a free slot and return its number, or None if all are taken."""
        with self._lock:
            for slot in range(self._size):
                if slot not in self._ours and self._take(slot):
                    self._ours.add(slot)
                    return slot
        return None

    def is_full(self) -> bool:
        """Return whether all slots are taken."""
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
