"""An upstream behind the reverse proxy that sends a scripted response and records requests."""

import socket
import threading
from contextlib import closing, suppress


class ScriptedUpstream:
    def __init__(self, response: bytes) -> None:
        """Listen on a free port. An empty response simulates a crash."""
        self.response = response
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection:
                    self.requests.append(self._read_request(connection))
                    connection.sendall(self.response)

    @staticmethod
    def _read_request(connection: socket.socket) -> bytes:
        connection.settimeout(10)
        received = b""
        while b"\r\n\r\n" not in received or not received.endswith((b"\r\n\r\n", b"}")):
            received += connection.recv(65536)
        return received

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def scripted_upstream(response: bytes = b"") -> closing[ScriptedUpstream]:
    return closing(ScriptedUpstream(response))
