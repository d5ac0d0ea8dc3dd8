"""Who serves while new code takes over from old, and what becomes of connections then.

On a reload gunicorn tells the old workers to go as soon as it has begun to make new ones, which
take seconds until they can answer: everybody would wait for so long. So a page of memory that all
of them share says who is ready, and the old ones stay until then.

Nothing of Django is imported here, and nothing that gevent would have to patch.
"""

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RD
from typing import Any

import gevent

# How old the last of the old workers is, and how many new ones are awaited; then a byte for each.
_HEAD = struct.Struct("qq")

# When all is stopped nobody waits longer than this for the next request of a connection.
IDLE_SECONDS = 2.0


class GracefulReload:
    """Made before the first worker is; gunicorn counts their age up from 1."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)

    def begin(self, last_age: int, workers: int) -> None:
        self._page[_HEAD.size :] = bytes(len(self._page) - _HEAD.size)
        _HEAD.pack_into(self._page, 0, last_age, workers)

    def note_ready(self, age: int) -> None:
        last_age, _ = _HEAD.unpack_from(self._page)
        place = min(_HEAD.size + age - last_age, len(self._page)) - 1
        self._page[place] = 1

    def is_for(self, age: int) -> bool:
        """Whether others follow a worker that is told to go, or all is stopped."""
        return bool(age <= _HEAD.unpack_from(self._page)[0])

    def is_ready(self) -> bool:
        _, workers = _HEAD.unpack_from(self._page)
        return bool(sum(self._page[_HEAD.size :]) >= workers)


class Connections:
    """Those of one worker, each served by a greenlet of its own."""

    def __init__(self) -> None:
        self._clients: dict[Any, Any] = {}

    @contextmanager
    def keep(self, client: Any) -> Iterator[None]:
        greenlet = gevent.getcurrent()
        self._clients[greenlet] = client
        try:
            yield
        finally:
            del self._clients[greenlet]

    def end_idle(self) -> None:
        """Without end: one that is busy may be idle later. What has arrived is still read."""
        before: dict[Any, Any] = {}
        while True:
            idle = self._idle()
            for timeout in idle.keys() & before.keys():
                with suppress(OSError):
                    # gevent's own would raise where the worker reads: this is the end of a stream.
                    idle[timeout]._sock.shutdown(SHUT_RD)
            before = idle
            gevent.sleep(IDLE_SECONDS)

    def _idle(self) -> dict[Any, Any]:
        """By the one time-out that each has while it waits for its next request."""
        waits = ((getattr(greenlet, "waits", None), c) for greenlet, c in self._clients.items())
        return {timeout: client for timeout, client in waits if timeout and timeout.pending}
