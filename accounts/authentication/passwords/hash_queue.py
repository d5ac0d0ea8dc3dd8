"""Queue password hashes so that they don't slow down the API.

A machine computes one hash at a time. Hashes for strangers run in a process at the lowest CPU
priority, so they only get the CPU time that the API leaves. Hashes for browsers that have signed in
before run in a thread of the worker at normal priority, and don't wait for strangers.

`sign_in_queue.py` limits how many strangers may wait.
"""

import fcntl
import json
import subprocess
import sys
import time
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import IO, cast

from django.conf import settings
from gevent import get_hub
from gevent.lock import BoundedSemaphore
from gevent.monkey import get_original, is_module_patched
from gevent.threadpool import ThreadPool

from accounts.authentication.passwords.hash_process import Job, compute
from runtime.database.pool import release_connection

# A browser that has signed in before waits at most this long for the hash of a stranger, which may
# take seconds while the API needs the CPU.
MAX_WAIT_FOR_STRANGERS_SECONDS = 0.5
_POLL_SECONDS = 0.01

# sign_in_queue.py sets this for each request for a page.
for_stranger: ContextVar[bool] = ContextVar("for_stranger", default=False)


class HashingUnavailable(Exception):
    """Raised if the process for strangers' hashes can't be started, perhaps for lack of memory."""


def run(job: Job) -> str | bool:
    """Compute a hash and wait for it without blocking other requests or holding a connection."""
    if not is_module_patched("threading"):
        # In a command or the background worker, no other requests are waiting.
        return compute(job)
    release_connection()
    return _get_queue(id(get_hub())).run(job)


def start() -> None:
    """Start the process for strangers' hashes ahead of the first hash."""
    _get_queue(id(get_hub())).start()


@cache
def _get_queue(hub_id: int) -> "HashQueue":
    return HashQueue(Path(settings.DATA_DIR) / "password-hashes.lock")


class HashQueue:
    def __init__(self, lock_file: Path) -> None:
        self._lock_file = lock_file
        self._thread = ThreadPool(1)
        self._process_lock = BoundedSemaphore(1)
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, job: Job) -> str | bool:
        if not for_stranger.get():
            result: str | bool = self._thread.apply(_compute_in_thread, (self._lock_file, job))
            return result
        with self._process_lock:
            return self._compute_in_process(job)

    def start(self) -> None:
        command = [sys.executable, "-m", "accounts.authentication.passwords.hash_process"]
        self._process = subprocess.Popen(
            [*command, str(self._lock_file)],
            cwd=settings.BASE_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def _compute_in_process(self, job: Job) -> str | bool:
        result = self._send(job)
        if result is None:
            # The process was killed, perhaps by the OOM killer.
            self.start()
            result = self._send(job)
        if result is None:
            raise HashingUnavailable
        return result

    def _send(self, job: Job) -> str | bool | None:
        """Return the result, or None if the process isn't running."""
        if self._process is None:
            return None
        stdin = cast(IO[bytes], self._process.stdin)
        stdout = cast(IO[bytes], self._process.stdout)
        try:
            stdin.write(json.dumps(job).encode() + b"\n")
            stdin.flush()
            line = stdout.readline()
        except OSError:
            line = b""
        if not line:
            self._process.wait()
            self._process = None
            return None
        return cast(str | bool, json.loads(line))


def _compute_in_thread(lock_file: Path, job: Job) -> str | bool:
    """Compute a hash in a native thread, where only the unpatched `sleep` works."""
    sleep = get_original("time", "sleep")
    deadline = time.monotonic() + MAX_WAIT_FOR_STRANGERS_SECONDS
    with lock_file.open("ab") as lock:
        while not _try_lock(lock) and time.monotonic() < deadline:
            sleep(_POLL_SECONDS)
        return compute(job)


def _try_lock(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
