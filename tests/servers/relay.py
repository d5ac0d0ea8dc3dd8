"""A TCP relay between the product and a server it needs, which can delay or drop connections."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Relay:
    def __init__(self, target: int | str) -> None:
        """Listen on a free port. The target is a port, or the path of a Unix socket."""
        self.target = target
        self.delay = 0.0
        # A request with these bytes reaches the server, but its response is lost.
        self.drop_response_to: bytes | None = None
        # A request with these bytes never reaches the server. Its connection is closed.
        self.drop_request_with: bytes | None = None
        self._dropping_responses_to: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._open: list[socket.socket] = []
        self._start(self._accept, self._listener)

    def cut(self) -> None:
        """Close all connections and refuse new ones."""
        self._end(self._listener)
        self.drop()

    def drop(self) -> None:
        """Close all connections, but accept new ones."""
        for connection in self._open:
            self._end(connection)
        self._open.clear()

    @staticmethod
    def _end(connection: socket.socket) -> None:
        # Only shutdown wakes a thread that blocks in accept or recv; close doesn't.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def restore(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._start(self._accept, self._listener)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = self._connect()
                self._open += [client, server]
                self._start(self._forward, client, server)
                self._start(self._forward, server, client)

    def _connect(self) -> socket.socket:
        if isinstance(self.target, int):
            return socket.create_connection(("127.0.0.1", self.target))
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        return server

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                time.sleep(self.delay)
                is_lost = bool(self.drop_request_with and self.drop_request_with in data)
                if source in self._dropping_responses_to or is_lost:
                    self._end(source)
                    self._end(target)
                    return
                if self.drop_response_to and self.drop_response_to in data:
                    self._dropping_responses_to.add(target)
                target.sendall(data)

    @staticmethod
    def _start(function: object, *arguments: object) -> None:
        threading.Thread(target=function, args=arguments, daemon=True).start()  # type: ignore[arg-type]


@contextmanager
def relay(target: int | str) -> Iterator[Relay]:
    running = Relay(target)
    try:
        yield running
    finally:
        running.cut()
