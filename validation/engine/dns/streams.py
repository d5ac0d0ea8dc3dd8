"""One question and its answer over TCP, a step at a time."""

import select
import socket
import struct
from typing import NamedTuple

_LENGTH = struct.Struct("!H")


class Server(NamedTuple):
    host: str
    port: int = 53

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port


class Stream:
    def __init__(self, server: Server, wire: bytes) -> None:
        self.server = server
        self._to_send = _LENGTH.pack(len(wire)) + wire
        self._received = b""
        self._socket = socket.socket(server.family, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        try:
            # It goes on by itself; what becomes of it is told when it can be written to.
            self._socket.connect_ex(server.address)
        except OSError:
            self._socket.close()
            raise

    @property
    def waits_for(self) -> int:
        return select.POLLOUT if self._to_send else select.POLLIN

    def advance(self) -> bytes | None:
        """Called when there is something to do; the whole message once it is there."""
        try:
            if self._to_send:
                self._to_send = self._to_send[self._socket.send(self._to_send) :]
                return None
            return self._receive()
        except BlockingIOError:
            return None

    def _receive(self) -> bytes | None:
        part = self._socket.recv(65535)
        if not part:
            raise ConnectionError("The server closed the connection in the middle of a message")
        self._received += part
        length = _LENGTH.unpack_from(self._received)[0] if len(self._received) > 1 else 65535
        whole = self._received[_LENGTH.size : _LENGTH.size + length]
        return whole if len(self._received) >= _LENGTH.size + length else None

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()
