"""Questions on their way: to one server after another until one answers, all at the same time.

One caller's sockets, used by its thread (or greenlet) alone. A socket is connected to its server,
so that the kernel drops what others send, and has a port of its own; with an identifier for each
question that is what a forger has to guess (RFC 5452).
"""

import secrets
import select
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from validation.engine.dns.messages import (
    FAILURE,
    Outcome,
    Question,
    Reply,
    identifier_of,
    question_wire,
    read_reply,
)
from validation.engine.dns.streams import Server, Stream

# As parts of the time for all: when a question is sent again, to the next server.
_TRIES = (0.0, 1 / 6, 1 / 2)
# A server that floods us is not listened to for long.
_MOST_STRAY_PACKETS = 200
_LARGEST_PACKET = 65535
_PACKETS_AT_ONCE = 64
_GRACE_SECONDS = 0.1
_MOST_HOPS = 8


@dataclass(eq=False)
class _Asked:
    question: Question
    # The name that is asked for now; another one than the question's behind an alias.
    name: str
    since: float
    tries: int = 0
    next_try_at: float = 0.0
    last_server: Server | None = None
    tried: set[Server] = field(default_factory=set)
    failed: set[Server] = field(default_factory=set)
    has_options: bool = True
    # What a server said that may not know; it counts when no other says better.
    weak: Reply | None = None
    stream: Stream | None = None
    hops: int = 0
    ttl: float | None = None

    @property
    def current(self) -> Question:
        return Question(self.name, self.question.type)


class Exchange:
    def __init__(
        self,
        servers: Sequence[Server],
        *,
        seconds: float,
        deadline: float,
        clock: Callable[[], float],
        is_silent: Callable[[Server], None],
    ) -> None:
        # Those that answer come to the front, those that do not fall back.
        self._servers = list(servers)
        self._deadline = deadline
        self._clock = clock
        self._is_silent = is_silent
        self._tries_at = [part * seconds for part in _TRIES]
        while len(self._tries_at) < len(servers):
            self._tries_at.append(seconds * (0.5 + 0.5 * len(self._tries_at) / len(servers)))
        self._poll = select.poll()
        self._sockets: dict[Server, socket.socket] = {}
        # What to do with each socket that has something to say, by its descriptor.
        self._listeners: dict[int, Callable[[], None]] = {}
        self._streams: set[Stream] = set()
        self._asked: dict[int, _Asked] = {}
        self._identifiers: set[int] = set()
        self._done: list[tuple[Question, Reply]] = []
        self._strays: Counter[Server] = Counter()

    def send(self, question: Question) -> None:
        self._begin(_Asked(question, question.name, self._clock()))

    def receive(self, until: float) -> tuple[Question, Reply] | None:
        """The next question that is answered, or given up; None when the time is over."""
        while not self._done and self._asked:
            next_try_at = min(asked.next_try_at for asked in self._asked.values())
            # What has come already counts, however late it is by now; what keeps coming does not.
            heard = self._listen(min(until, next_try_at) - self._clock())
            now = self._clock()
            if now >= until + _GRACE_SECONDS * heard:
                break
            if not heard:
                self._repeat(now)
        return self._done.pop(0) if self._done else None

    def close(self) -> None:
        for stream in self._streams:
            stream.close()
        for udp in self._sockets.values():
            udp.close()

    def _begin(self, asked: _Asked) -> None:
        identifier = secrets.randbits(16)
        while identifier in self._identifiers:
            identifier = secrets.randbits(16)
        self._identifiers.add(identifier)
        self._asked[identifier] = asked
        self._try_next(identifier, asked)

    def _repeat(self, now: float) -> None:
        """Asks again what is due."""
        for identifier, asked in list(self._asked.items()):
            if asked.next_try_at <= now:
                self._note_silence(asked)
                self._try_next(identifier, asked)

    def _note_silence(self, asked: _Asked) -> None:
        silent = asked.last_server
        if silent is not None:
            self._is_silent(silent)
            self._servers.sort(key=lambda server: server == silent)

    def _try_next(self, identifier: int, asked: _Asked) -> None:
        """To the next server that has not failed; a question that none can answer is done."""
        remaining = [server for server in self._servers if server not in asked.failed]
        if not remaining:
            self._finish(identifier, asked.weak or FAILURE)
            return
        if asked.tries >= len(self._tries_at):
            asked.next_try_at = self._deadline
            return
        if asked.tried.issuperset(remaining):
            asked.tried.clear()
        server = next(one for one in remaining if one not in asked.tried)
        asked.last_server = server
        asked.tried.add(server)
        asked.tries += 1
        is_last = asked.tries >= len(self._tries_at)
        next_try_at = self._deadline if is_last else asked.since + self._tries_at[asked.tries]
        asked.next_try_at = min(next_try_at, self._deadline)
        try:
            self._socket(server).send(self._wire(identifier, asked))
        except OSError:
            self._failed_at(server, identifier, asked)

    def _wire(self, identifier: int, asked: _Asked) -> bytes:
        return question_wire(asked.current, identifier, has_options=asked.has_options)

    def _failed_at(self, server: Server, identifier: int, asked: _Asked) -> None:
        """The others are asked at once, with all the patience that this one had."""
        asked.failed.add(server)
        asked.tries, asked.since = 0, self._clock()
        self._try_next(identifier, asked)

    def _gone(self, server: Server) -> None:
        for identifier, asked in list(self._asked.items()):
            if asked.last_server == server:
                self._failed_at(server, identifier, asked)
            else:
                asked.failed.add(server)

    def _socket(self, server: Server) -> socket.socket:
        known = self._sockets.get(server)
        if known is not None:
            return known
        made = socket.socket(server.family, socket.SOCK_DGRAM)
        self._sockets[server] = made
        made.setblocking(False)
        made.connect(server.address)
        self._hear(made.fileno(), select.POLLIN, lambda: self._read_packets(server, made))
        return made

    def _hear(self, descriptor: int, events: int, listener: Callable[[], None]) -> None:
        self._listeners[descriptor] = listener
        self._poll.register(descriptor, events)

    def _listen(self, seconds: float) -> bool:
        heard = self._poll.poll(max(0.0, seconds) * 1000)
        for descriptor, _ in heard:
            # What one of them said may have ended another.
            listener = self._listeners.get(descriptor)
            if listener is not None:
                listener()
        return bool(heard)

    def _read_packets(self, server: Server, udp: socket.socket) -> None:
        for _ in range(_PACKETS_AT_ONCE):
            try:
                packet = udp.recv(_LARGEST_PACKET)
            except BlockingIOError:
                return
            except OSError:
                # Nobody listens there: the machine said so.
                self._gone(server)
                return
            self._read(server, packet)

    def _read(self, server: Server, packet: bytes) -> None:
        identifier = identifier_of(packet)
        asked = None if identifier is None else self._asked.get(identifier)
        reply = None if asked is None else read_reply(packet, asked.current)
        if identifier is None or asked is None or reply is None:
            self._stray(server)
        elif reply.is_truncated:
            self._ask_by_stream(server, identifier, asked)
        else:
            self._take(server, identifier, asked, reply)

    def _stray(self, server: Server) -> None:
        self._strays[server] += 1
        # A second answer to a question that was repeated is no sin.
        if self._strays[server] > _MOST_STRAY_PACKETS + len(_TRIES) * len(self._identifiers):
            self._stop_hearing(server)
            self._gone(server)

    def _stop_hearing(self, server: Server) -> None:
        if server in self._servers:
            self._servers.remove(server)
            descriptor = self._sockets[server].fileno()
            del self._listeners[descriptor]
            self._poll.unregister(descriptor)

    def _take(self, server: Server, identifier: int, asked: _Asked, reply: Reply) -> None:
        if reply.is_unread and asked.has_options:
            asked.has_options = False
            asked.tried.discard(server)
            asked.tries, asked.since = 0, self._clock()
            self._try_next(identifier, asked)
            return
        if reply.is_weak:
            asked.weak = reply
        if reply.outcome is Outcome.FAILURE or (reply.is_weak and len(self._servers) > 1):
            self._failed_at(server, identifier, asked)
            return
        self._servers.sort(key=lambda one: one != server)
        says_how_long = reply.ttl is not None
        if reply.ttl is not None:
            asked.ttl = reply.ttl if asked.ttl is None else min(asked.ttl, reply.ttl)
        if reply.outcome is Outcome.ALIAS:
            self._follow_alias(identifier, asked, reply.alias)
        else:
            self._finish(identifier, reply._replace(ttl=asked.ttl if says_how_long else None))

    def _follow_alias(self, identifier: int, asked: _Asked, alias: str) -> None:
        asked.hops += 1
        if asked.hops > _MOST_HOPS:
            self._finish(identifier, FAILURE)
            return
        del self._asked[identifier]
        asked.name, asked.tries, asked.since = alias, 0, self._clock()
        self._begin(asked)

    def _finish(self, identifier: int, reply: Reply) -> None:
        asked = self._asked.pop(identifier)
        if asked.stream is not None:
            self._end_stream(asked.stream)
        self._done.append((asked.question, reply))

    def _ask_by_stream(self, server: Server, identifier: int, asked: _Asked) -> None:
        """RFC 7766: what did not fit is asked for again over TCP, beside the others."""
        if asked.stream is not None:
            return
        try:
            stream = Stream(server, self._wire(identifier, asked))
        except OSError:
            self._failed_at(server, identifier, asked)
            return
        asked.stream = stream
        self._streams.add(stream)
        listener = lambda: self._read_stream(stream, identifier, asked)  # noqa: E731
        self._hear(stream.fileno(), select.POLLOUT, listener)

    def _read_stream(self, stream: Stream, identifier: int, asked: _Asked) -> None:
        try:
            message = stream.advance()
        except OSError:
            message = b""
        if message is None:
            self._poll.modify(stream.fileno(), stream.waits_for)
            return
        self._end_stream(stream)
        asked.stream = None
        if self._asked.get(identifier) is not asked:
            return
        is_answer = identifier_of(message) == identifier
        reply = read_reply(message, asked.current) if is_answer else None
        if reply is None or reply.is_truncated:
            reply = FAILURE
        self._take(stream.server, identifier, asked, reply)

    def _end_stream(self, stream: Stream) -> None:
        if stream in self._streams:
            self._streams.discard(stream)
            self._listeners.pop(stream.fileno(), None)
            self._poll.unregister(stream.fileno())
            stream.close()
