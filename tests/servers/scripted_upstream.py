"""A machine behind the front that says what a test wants said, and keeps what it heard."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Machine:
    def __init__(self, answer: bytes) -> None:
        """Without an answer it closes the connection, as one that dies does."""
        self.answer = answer
        self.heard: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection:
                    self.heard.append(self._hear(connection))
                    connection.sendall(self.answer)

    @staticmethod
    def _hear(connection: socket.socket) -> bytes:
        connection.settimeout(10)
        received = b""
        while b"\r\n\r\n" not in received or not received.endswith((b"\r\n\r\n", b"}")):
            received += connection.recv(65536)
        return received

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def machine(answer: bytes = b"") -> Iterator[Machine]:
    running = Machine(answer)
    try:
        yield running
    finally:
        running.close()
