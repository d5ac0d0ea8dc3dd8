"""Send queries over TCP without blocking (RFC 7766)."""

import functools
import select
import socket
import struct
from collections.abc import Callable, Iterable

from engine.dns.budget import BudgetExhausted
from engine.dns.transport.servers import Server
from engine.dns.transport.sockets import Sockets

_LENGTH = struct.Struct("!H")
_MAX_STREAMS_PER_SERVER = 4


class Streams:
    def __init__(
        self,
        sockets: Sockets,
        *,
        seconds: float,
        clock: Callable[[], float],
        on_message: Callable[[int, bytes | None], None],
    ) -> None:
        """Call `on_message` with an identifier and its reply, None if the stream failed."""
        self._sockets = sockets
        self._seconds = seconds
        self._clock = clock
        self._on_message = on_message
        self._waiting: dict[int, tuple[Server, bytes]] = {}
        # With deadlines.
        self._running: dict[int, tuple[Stream, float]] = {}

    def enqueue(self, identifier: int, server: Server, wire: bytes) -> None:
        self._waiting[identifier] = (server, wire)

    def start_waiting(self) -> None:
        """Start streams if there is room, but not while others end: a failure may cancel them."""
        for identifier, (server, wire) in list(self._waiting.items()):
            running = sum(stream.server == server for stream, _ in self._running.values())
            if identifier in self._waiting and running < _MAX_STREAMS_PER_SERVER:
                del self._waiting[identifier]
                try:
                    self._sockets.budget.consume()
                    stream = Stream(server, wire)
                except (BudgetExhausted, OSError):
                    self._on_message(identifier, None)
                    continue
                self._running[identifier] = (stream, self._clock() + self._seconds)
                listener = functools.partial(self._advance, identifier, stream)
                self._sockets.watch(stream.fileno(), select.POLLOUT, listener)

    def deadlines(self) -> Iterable[float]:
        return (ends_at for _, ends_at in self._running.values())

    def expire(self, now: float) -> None:
        for identifier, (_, ends_at) in list(self._running.items()):
            # An earlier callback may have canceled it.
            if ends_at <= now and identifier in self._running:
                self._on_message(identifier, None)

    def cancel(self, identifier: int) -> None:
        self._waiting.pop(identifier, None)
        stream, _ = self._running.pop(identifier, (None, 0.0))
        if stream is not None:
            self._sockets.unwatch(stream.fileno())
            stream.close()

    def close(self) -> None:
        for identifier in list(self._running):
            self.cancel(identifier)

    def _advance(self, identifier: int, stream: "Stream") -> None:
        try:
            message = stream.advance()
        except OSError:
            self._on_message(identifier, None)
            return
        if message is None:
            self._sockets.change_events(stream.fileno(), stream.awaited_events)
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
            # The first write reports whether it connected.
            self._socket.connect_ex(server.address)
        except OSError:
            self._socket.close()
            raise

    @property
    def awaited_events(self) -> int:
        return select.POLLOUT if self._to_send else select.POLLIN

    def advance(self) -> bytes | None:
        """Send or receive. Return a complete message."""
        try:
            if self._to_send:
                self._to_send = self._to_send[self._socket.send(self._to_send) :]
                return None
            part = self._socket.recv(65535)
        except BlockingIOError:
            return None
        if not part:
            raise ConnectionError("The server closed the connection in the middle of a message")
        self._received += part
        length = _LENGTH.unpack_from(self._received)[0] if len(self._received) > 1 else 65535
        message = self._received[_LENGTH.size : _LENGTH.size + length]
        return message if len(self._received) >= _LENGTH.size + length else None

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()
