"""Keep old workers serving during a reload, and close their connections afterwards.

gunicorn stops the old workers as soon as it has forked the new ones, which take seconds to load:
requests would wait for that long. So the workers share a page of memory in which new ones mark
themselves as ready, and the old ones serve until all are.

This module must not import Django, or anything that gevent would have to patch.
"""

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RD
from typing import Any

import gevent

# The age of the youngest old worker, and the number of new workers. The header is followed by one
# byte per new worker.
_HEADER = struct.Struct("qq")

# While the server stops, connections that are idle for longer than this are closed.
IDLE_SECONDS = 2.0


class GracefulReload:
    """The state of a reload, shared by all workers of a server.

    Create it before gunicorn forks the first worker. A worker's `age` is its number, from 1 up.
    """

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)

    def start(self, last_age: int, workers: int) -> None:
        self._page[_HEADER.size :] = bytes(len(self._page) - _HEADER.size)
        _HEADER.pack_into(self._page, 0, last_age, workers)

    def mark_ready(self, age: int) -> None:
        last_age, _ = _HEADER.unpack_from(self._page)
        offset = min(_HEADER.size + age - last_age, len(self._page)) - 1
        self._page[offset] = 1

    def replaces(self, age: int) -> bool:
        """Return whether the worker of this age is stopped by a reload, not with the server."""
        return bool(age <= _HEADER.unpack_from(self._page)[0])

    def is_complete(self) -> bool:
        """Return whether all new workers are ready."""
        _, workers = _HEADER.unpack_from(self._page)
        return bool(sum(self._page[_HEADER.size :]) >= workers)


class Connections:
    """The open connections of a worker, each of which has a greenlet."""

    def __init__(self) -> None:
        self._clients: dict[Any, Any] = {}

    @contextmanager
    def track(self, client: Any) -> Iterator[None]:
        greenlet = gevent.getcurrent()
        self._clients[greenlet] = client
        try:
            yield
        finally:
            del self._clients[greenlet]

    def close_idle(self) -> None:
        """Close idle connections until the process ends, as busy ones may become idle later.

        Requests that have arrived are still served.
        """
        previous: dict[Any, Any] = {}
        while True:
            idle = self._idle()
            for timeout in idle.keys() & previous.keys():
                with suppress(OSError):
                    # The worker then reads an end of stream. With gevent's shutdown() it would get
                    # an exception.
                    idle[timeout]._sock.shutdown(SHUT_RD)
            previous = idle
            gevent.sleep(IDLE_SECONDS)

    def _idle(self) -> dict[Any, Any]:
        """Return the sockets by the timeouts that Worker sets while they wait for a request."""
        timeouts = ((getattr(g, "keepalive_timeout", None), c) for g, c in self._clients.items())
        return {timeout: client for timeout, client in timeouts if timeout and timeout.pending}
