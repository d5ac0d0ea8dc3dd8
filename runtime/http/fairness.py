"""Let other requests run during one that computes for long.

A web worker's greenlets switch only when they wait. A request that computes for several
milliseconds does so in its turn, and calls `let_others_run` again and again, outside transactions.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_turn = threading.Lock()


@contextmanager
def turn() -> Iterator[None]:
    """Wait until no other request of this process computes for long, and compute for long.

    A short request then waits for one long one at most, however many there are.
    """
    with _turn:
        let_others_run()
        yield


def let_others_run() -> None:
    """Pause until other requests wait, but only briefly. Replaced by config/server/worker.py."""
