"""Questions and answers over TCP, a step at a time, beside what goes over UDP (RFC 7766)."""

import functools
import select
import socket
import struct
from collections.abc import Callable, Iterable

from validation.engine.dns.budget import BudgetExhausted
from validation.engine.dns.transport.servers import Server
from validation.engine.dns.transport.sockets import Sockets

_LENGTH = struct.Struct("!H")
_AT_ONCE = 4


class Streams:
    """A few at a time for each server, each for so many seconds at most."""

    def __init__(
        self,
        sockets: Sockets,
        *,
        seconds: float,
        clock: Callable[[], float],
        on_message: Callable[[int, bytes | None], None],
    ) -> None:
        """`on_message` is handed the identifier and its answer; None where none comes."""
        self._sockets = sockets
        self._seconds = seconds
        self._clock = clock
        self._on_message = on_message
        self._waiting: dict[int, tuple[Server, bytes]] = {}
        # With when it is given up.
        self._running: dict[int, tuple[Stream, float]] = {}

    def ask(self, identifier: int, server: Server, wire: bytes) -> None:
        self._waiting[identifier] = (server, wire)

    def begin(self) -> None:
        """Those that have to wait no longer. Not where others end, which may end these as well."""
        for identifier, (server, wire) in list(self._waiting.items()):
            at_this_server = sum(stream.server == server for stream, _ in self._running.values())
            if identifier in self._waiting and at_this_server < _AT_ONCE:
                del self._waiting[identifier]
                self._begin(identifier, server, wire)

    def ends(self) -> Iterable[float]:
        return (ends_at for _, ends_at in self._running.values())

    def give_up(self, now: float) -> None:
        for identifier, (_, ends_at) in list(self._running.items()):
            # What one of them said may have ended another.
            if ends_at <= now and identifier in self._running:
                self._on_message(identifier, None)

    def forget(self, identifier: int) -> None:
        self._waiting.pop(identifier, None)
        stream, _ = self._running.pop(identifier, (None, 0.0))
        if stream is not None:
            self._sockets.forget(stream.fileno())
            stream.close()

    def close(self) -> None:
        for identifier in list(self._running):
            self.forget(identifier)

    def _begin(self, identifier: int, server: Server, wire: bytes) -> None:
        try:
            self._sockets.budget.spend()
            stream = Stream(server, wire)
        except (BudgetExhausted, OSError):
            self._on_message(identifier, None)
            return
        self._running[identifier] = (stream, self._clock() + self._seconds)
        listener = functools.partial(self._advance, identifier, stream)
        self._sockets.watch(stream.fileno(), select.POLLOUT, listener)

    def _advance(self, identifier: int, stream: "Stream") -> None:
        try:
            message = stream.advance()
        except OSError:
            self._on_message(identifier, None)
            return
        if message is None:
            self._sockets.wait_for(stream.fileno(), stream.waits_for)
        else:
            self._on_message(identifier, message)


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
