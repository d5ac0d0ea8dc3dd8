"""Stands between the product and a server it needs, and makes that one slow or gone."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Relay:
    def __init__(self, target: int | str) -> None:
        """The target is a port, or the path of a socket."""
        self.target = target
        self.delay = 0.0
        # A request that contains it reaches the server; the answer is lost with the connection.
        self.loses_answer_to: bytes | None = None
        # A request that contains it never reaches the server, and the connection is lost.
        self.loses: bytes | None = None
        self._loses_next_of: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._open: list[socket.socket] = []
        self._start(self._accept, self._listener)

    def cut(self) -> None:
        """From now on connections are refused, and those there are have ended."""
        self._end(self._listener)
        self.drop()

    def drop(self) -> None:
        """The connections there are have ended; new ones may come."""
        for connection in self._open:
            self._end(connection)
        self._open.clear()

    @staticmethod
    def _end(connection: socket.socket) -> None:
        # Closing alone does not wake the thread that waits in accept or recv.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def mend(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._start(self._accept, self._listener)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = self._connect()
                self._open += [client, server]
                self._start(self._pass_on, client, server)
                self._start(self._pass_on, server, client)

    def _connect(self) -> socket.socket:
        if isinstance(self.target, int):
            return socket.create_connection(("127.0.0.1", self.target))
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        return server

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                time.sleep(self.delay)
                is_lost = bool(self.loses and self.loses in data)
                if source in self._loses_next_of or is_lost:
                    self._end(source)
                    self._end(target)
                    return
                if self.loses_answer_to and self.loses_answer_to in data:
                    self._loses_next_of.add(target)
                target.sendall(data)

    @staticmethod
    def _start(work: object, *arguments: object) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()  # type: ignore[arg-type]


@contextmanager
def relay(target: int | str) -> Iterator[Relay]:
    running = Relay(target)
    try:
        yield running
    finally:
        running.cut()
