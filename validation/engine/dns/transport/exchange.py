"""Questions on their way: to one server after another until one answers, all at the same time.

Used by its caller's thread (or greenlet) alone. Each server is asked through a socket of its own,
whose port a forger has to guess, with the identifier of each attempt (RFC 5452).
"""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence

from validation.engine.dns.budget import BudgetExhausted, MessageBudget
from validation.engine.dns.messages import (
    FAILURE,
    OVER_BUDGET,
    Outcome,
    Question,
    Reply,
    identifier_of,
    question_wire,
    read_reply,
)
from validation.engine.dns.transport.servers import Server
from validation.engine.dns.transport.sockets import Sockets
from validation.engine.dns.transport.streams import Streams

# As parts of the time for all: when a question is sent again, to the next server.
_TRIES = (0.0, 1 / 6, 1 / 2)
# A server that floods us is not listened to for long.
_MOST_STRAY_PACKETS = 200
_GRACE_SECONDS = 0.1
_MOST_HOPS = 10
# As a part of the time for all.
_STREAM_PATIENCE = 1 / 3


class _Asked:
    def __init__(self, question: Question, now: float) -> None:
        self.question = question
        # The name that is asked for now; another one than the question's behind an alias.
        self.name = question.name
        self.since = now
        self.hops = 0
        self.ttl: float | None = None
        self.next_try_at = 0.0
        self.tries = 0
        self.tried: set[Server] = set()
        self.failed: set[Server] = set()
        # Those of the failed that gave an answer, but may not know; if all did, it counts.
        self.weak: dict[Server, Reply] = {}
        # The identifiers of the attempts that may still be answered.
        self.attempts: set[int] = set()
        self.last_server: Server | None = None

    def begin_anew(self, name: str, now: float) -> None:
        self.name, self.since, self.tries = name, now, 0
        for known in (self.tried, self.failed, self.weak):
            known.clear()


class _Attempt:
    """One packet to one server. Its answer counts once."""

    def __init__(self, asked: _Asked, server: Server, wire: bytes, *, has_options: bool) -> None:
        self.asked = asked
        self.server = server
        self.wire = wire
        self.has_options = has_options
        # Its answer did not fit into a packet.
        self.is_truncated = False

    @property
    def question(self) -> Question:
        return Question(self.asked.name, self.asked.question.type)


class Exchange:
    def __init__(
        self,
        servers: Sequence[Server],
        *,
        budget: MessageBudget,
        seconds: float,
        deadline: float,
        clock: Callable[[], float],
        is_silent: Callable[[Server], None],
    ) -> None:
        # Those that answer come to the front, those that do not fall back.
        self._servers = list(servers)
        self._server_count = len(self._servers)
        self._deadline = deadline
        self._clock = clock
        self._is_silent = is_silent
        self._tries_at = [part * seconds for part in _TRIES]
        while len(self._tries_at) < len(servers):
            self._tries_at.append(seconds * (0.5 + 0.5 * len(self._tries_at) / len(servers)))
        # Old ones that do not understand options (RFC 6891, 6.2.2).
        self._plain: set[Server] = set()
        self._budget = budget
        self._sockets = Sockets(budget, self._read, self._gone)
        self._streams = Streams(
            self._sockets,
            seconds=seconds * _STREAM_PATIENCE,
            clock=clock,
            on_message=self._read_stream,
        )
        self._asked: set[_Asked] = set()
        self._attempts: dict[int, _Attempt] = {}
        self._sent = 0
        self._done: list[tuple[Question, Reply]] = []
        self._strays: Counter[Server] = Counter()

    def send(self, question: Question) -> None:
        asked = _Asked(question, self._clock())
        self._asked.add(asked)
        self._try_next(asked)

    def receive(self, until: float) -> tuple[Question, Reply] | None:
        """The next question that is answered, or given up; None when the time is over."""
        self._streams.begin()
        while not self._done and self._asked:
            due = [asked.next_try_at for asked in self._asked]
            # What has come already counts, however late it is by now; what keeps coming does not.
            wakes_at = min([until, *due, *self._streams.ends()])
            heard = self._sockets.listen(wakes_at - self._clock())
            now = self._clock()
            if now >= until + _GRACE_SECONDS * heard:
                break
            if not heard:
                self._repeat(now)
            self._streams.begin()
        return self._done.pop(0) if self._done else None

    def close(self) -> None:
        self._streams.close()
        self._sockets.close()

    def _repeat(self, now: float) -> None:
        """Asks again what is due, and gives up the streams that take too long."""
        self._streams.give_up(now)
        for asked in [one for one in self._asked if one.next_try_at <= now]:
            if asked not in self._asked:
                # That a server is gone was told by another question, and ended this one too.
                continue
            if self._waits_for_stream(asked):
                # That server did answer; only another one is worth a question.
                asked.next_try_at = self._deadline
                if len(self._servers) == 1:
                    continue
            elif asked.last_server is not None:
                self._fall_back(asked.last_server)
            self._try_next(asked)

    def _waits_for_stream(self, asked: _Asked) -> bool:
        return any(self._attempts[identifier].is_truncated for identifier in asked.attempts)

    def _fall_back(self, silent: Server) -> None:
        self._is_silent(silent)
        self._servers.sort(key=lambda server: server == silent)

    def _try_next(self, asked: _Asked) -> None:
        """To the next server that has not failed; a question that none can answer is done."""
        remaining = [server for server in self._servers if server not in asked.failed]
        if not remaining:
            all_are_weak = len(asked.weak) == self._server_count > 0
            # Without messages left, a failure may be our own.
            failure = OVER_BUDGET if self._budget.is_exhausted else FAILURE
            self._finish(asked, next(iter(asked.weak.values())) if all_are_weak else failure)
            return
        if asked.tries >= len(self._tries_at):
            asked.next_try_at = self._deadline
            return
        if asked.tried.issuperset(remaining):
            asked.tried.clear()
        server = next(one for one in remaining if one not in asked.tried)
        asked.tried.add(server)
        asked.tries += 1
        is_last = asked.tries >= len(self._tries_at)
        next_try_at = self._deadline if is_last else asked.since + self._tries_at[asked.tries]
        asked.next_try_at = min(next_try_at, self._deadline)
        self._attempt(asked, server)

    def _attempt(self, asked: _Asked, server: Server) -> None:
        identifier = secrets.randbits(16)
        while identifier in self._attempts:
            identifier = secrets.randbits(16)
        has_options = server not in self._plain
        question = Question(asked.name, asked.question.type)
        wire = question_wire(question, identifier, has_options=has_options)
        self._attempts[identifier] = _Attempt(asked, server, wire, has_options=has_options)
        self._sent += 1
        asked.attempts.add(identifier)
        asked.last_server = server
        try:
            self._sockets.send(server, wire)
        except BudgetExhausted:
            self._end(identifier)
            self._stop_asking(asked)
        except OSError:
            self._gone(server)

    def _stop_asking(self, asked: _Asked) -> None:
        """Leaves a question to the attempts that can still be answered, if there are any."""
        open_at = {self._attempts[identifier].server for identifier in asked.attempts}
        if open_at - asked.failed:
            asked.next_try_at = self._deadline
        else:
            self._finish(asked, OVER_BUDGET)

    def _failed_at(self, server: Server, asked: _Asked) -> None:
        """The others are asked at once, with all the patience that this one had."""
        if server not in asked.failed:
            asked.failed.add(server)
            asked.tries, asked.since = 0, self._clock()
            self._try_next(asked)

    def _gone(self, server: Server) -> None:
        for asked in list(self._asked):
            if asked.last_server == server:
                self._failed_at(server, asked)
            else:
                asked.failed.add(server)

    def _read(self, server: Server, packet: bytes) -> None:
        identifier = identifier_of(packet)
        attempt = None if identifier is None else self._attempts.get(identifier)
        is_open = attempt is not None and attempt.server == server and not attempt.is_truncated
        reply = read_reply(packet, attempt.question) if attempt is not None and is_open else None
        if identifier is None or attempt is None or reply is None:
            self._stray(server)
        elif reply.is_truncated:
            attempt.is_truncated = True
            self._streams.ask(identifier, server, attempt.wire)
        else:
            self._take(identifier, reply)

    def _stray(self, server: Server) -> None:
        self._strays[server] += 1
        # A second answer to a question is no sin.
        allowed = _MOST_STRAY_PACKETS + len(_TRIES) * self._sent
        if self._strays[server] > allowed and server in self._servers:
            self._servers.remove(server)
            self._sockets.forget_server(server)
            self._gone(server)

    def _take(self, identifier: int, reply: Reply) -> None:
        attempt = self._end(identifier)
        asked, server = attempt.asked, attempt.server
        if reply.is_unread and attempt.has_options:
            self._plain.add(server)
            self._attempt(asked, server)
            return
        if reply.is_weak and self._server_count > 1:
            asked.weak[server] = reply
            self._failed_at(server, asked)
            return
        if reply.outcome is Outcome.FAILURE:
            self._failed_at(server, asked)
            return
        self._servers.sort(key=lambda one: one != server)
        if reply.ttl is not None:
            asked.ttl = reply.ttl if asked.ttl is None else min(asked.ttl, reply.ttl)
        if reply.outcome is Outcome.ALIAS:
            self._follow_alias(asked, reply.alias)
        else:
            says_how_long = reply.ttl is not None
            self._finish(asked, reply._replace(ttl=asked.ttl if says_how_long else None))

    def _follow_alias(self, asked: _Asked, alias: str) -> None:
        asked.hops += 1
        if asked.hops > _MOST_HOPS:
            self._finish(asked, FAILURE)
            return
        self._end_attempts(asked)
        asked.begin_anew(alias, self._clock())
        self._try_next(asked)

    def _finish(self, asked: _Asked, reply: Reply) -> None:
        self._end_attempts(asked)
        self._asked.discard(asked)
        self._done.append((asked.question, reply))

    def _end_attempts(self, asked: _Asked) -> None:
        for identifier in list(asked.attempts):
            self._end(identifier)

    def _end(self, identifier: int) -> _Attempt:
        attempt = self._attempts.pop(identifier)
        attempt.asked.attempts.discard(identifier)
        self._streams.forget(identifier)
        return attempt

    def _read_stream(self, identifier: int, message: bytes | None) -> None:
        reply = None
        if message is not None and identifier_of(message) == identifier:
            reply = read_reply(message, self._attempts[identifier].question)
        self._take(identifier, FAILURE if reply is None or reply.is_truncated else reply)
