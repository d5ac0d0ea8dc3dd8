"""Hash passwords in a separate process, at the lowest CPU priority.

hash_queue.py starts one for each web worker. It reads one JSON job per line, writes one result per
line, and ends when the worker ends.

A thread won't do: a low-priority thread has to take the GIL to return its result. While the machine
is busy it would hold the GIL without getting the CPU, and stop the whole worker.

Django is not imported: the process starts in 50 ms and takes 12 MB.
"""

import fcntl
import json
import os
import signal
import sys
from pathlib import Path
from typing import NotRequired, TypedDict

from argon2 import low_level
from argon2.exceptions import VerificationError

LOWEST_PRIORITY = 19


class Job(TypedDict):
    """A secret to hash, or to compare with `hash`."""

    secret: str
    hash: NotRequired[str]
    salt: NotRequired[str]
    time_cost: NotRequired[int]
    memory_cost: NotRequired[int]
    parallelism: NotRequired[int]
    hash_len: NotRequired[int]


def compute(job: Job) -> str | bool:
    """Return the secret's Argon2 hash, or whether the secret matches the job's hash."""
    secret = job["secret"].encode()
    if "hash" in job:
        try:
            return low_level.verify_secret(job["hash"].encode(), secret, low_level.Type.ID)
        except VerificationError:
            return False
    cost = (job["time_cost"], job["memory_cost"], job["parallelism"], job["hash_len"])
    return low_level.hash_secret(secret, job["salt"].encode(), *cost, low_level.Type.ID).decode()


def main(lock_file: Path) -> None:
    # Ctrl-C in a terminal reaches all processes; this one ends with its worker.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(LOWEST_PRIORITY)
    with lock_file.open("ab") as lock:
        for line in sys.stdin.buffer:
            # All workers of this machine compute one hash at a time.
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                result = compute(json.loads(line))
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
