"""Send queries to one server after another until one replies, concurrently.

A forger must guess the exchange's port and the attempt's identifier (RFC 5452).
"""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence

from engine.dns.budget import BudgetExhausted, MessageBudget
from engine.dns.messages import (
    FAILURE,
    OVER_BUDGET,
    Outcome,
    ParsedReply,
    Query,
    encode_query,
    parse_reply,
    read_identifier,
)
from engine.dns.transport.attempts import Attempt, PendingQuery
from engine.dns.transport.edns import EdnsMemory, EdnsUse
from engine.dns.transport.servers import Server
from engine.dns.transport.sockets import Sockets
from engine.dns.transport.streams import Streams

# When to query each server, as shares of the time.
_RETRY_SCHEDULE = (0.0, 1 / 6, 1 / 2)
# Then a server that floods us is dropped.
_MAX_STRAY_PACKETS = 200
_GRACE_SECONDS = 0.1
_MAX_ALIAS_HOPS = 10
# Shares of the time. A thread that wakes up later may miss replies.
_STREAM_TIMEOUT_SHARE, _MAX_LAG_SHARE = 1 / 3, 1 / 12


class Exchange:
    def __init__(
        self,
        servers: Sequence[Server],
        *,
        budget: MessageBudget,
        seconds: float,
        deadline: float,
        clock: Callable[[], float],
        on_timeout: Callable[[Server], None],
        on_lag: Callable[[], None],
        edns_memory: EdnsMemory,
    ) -> None:
        self._servers = list(servers)
        self._server_count = len(self._servers)
        self._deadline = deadline
        self._clock = clock
        self._on_timeout = on_timeout
        self._on_lag = on_lag
        self._max_lag = seconds * _MAX_LAG_SHARE
        self._tries_at = [share * seconds for share in _RETRY_SCHEDULE]
        while len(self._tries_at) < len(servers):
            self._tries_at.append(seconds * (0.5 + 0.5 * len(self._tries_at) / len(servers)))
        self._edns = EdnsUse(edns_memory)
        self._budget = budget
        self._sockets = Sockets(budget, self._handle_packet, self._handle_unreachable)
        self._streams = Streams(
            self._sockets,
            seconds=seconds * _STREAM_TIMEOUT_SHARE,
            clock=clock,
            on_message=self._handle_stream_message,
        )
        self._pending: set[PendingQuery] = set()
        self._attempts: dict[int, Attempt] = {}
        self._sent = 0
        self._finished: list[tuple[Query, ParsedReply]] = []
        self._stray_packets: Counter[Server] = Counter()

    def send(self, query: Query) -> None:
        pending = PendingQuery(query, self._clock())
        self._pending.add(pending)
        self._try_next(pending)

    def receive(self, until: float) -> tuple[Query, ParsedReply] | None:
        self._streams.start_waiting()
        while not self._finished and self._pending:
            due = [pending.next_try_at for pending in self._pending]
            # Packets that have arrived count, even late. The grace period ends floods.
            wakes_at = min([until, *due, *self._streams.deadlines()])
            has_events = self._sockets.poll(wakes_at - self._clock())
            now = self._clock()
            if now > wakes_at + self._max_lag:
                self._on_lag()
            if now >= until + _GRACE_SECONDS * has_events:
                break
            if not has_events:
                self._retry_due(now)
            self._streams.start_waiting()
        return self._finished.pop(0) if self._finished else None

    def close(self) -> None:
        self._streams.close()
        self._sockets.close()
        # They refer to this object, and the garbage collector finds cycles late.
        del self._streams, self._sockets

    def _retry_due(self, now: float) -> None:
        self._streams.expire(now)
        for pending in [query for query in self._pending if query.next_try_at <= now]:
            if pending not in self._pending:
                # Another query found its server unreachable.
                continue
            if any(self._attempts[identifier].is_truncated for identifier in pending.attempts):
                # It replied over UDP, so only another server is worth a retry.
                pending.next_try_at = self._deadline
                if len(self._servers) == 1:
                    continue
            elif pending.last_server is not None:
                timed_out = pending.last_server
                self._on_timeout(timed_out)
                self._servers.sort(key=timed_out.__eq__)
            self._try_next(pending)

    def _try_next(self, pending: PendingQuery) -> None:
        remaining = [server for server in self._servers if server not in pending.failed]
        if not remaining:
            replies = pending.lame_replies
            all_are_lame = len(replies) == self._server_count > 0
            # With an exhausted budget, the failure may be ours.
            failure = OVER_BUDGET if self._budget.is_exhausted else FAILURE
            self._finish(pending, next(iter(replies.values())) if all_are_lame else failure)
            return
        if pending.tries >= len(self._tries_at):
            pending.next_try_at = self._deadline
            return
        if pending.tried.issuperset(remaining):
            pending.tried.clear()
        server = next(server for server in remaining if server not in pending.tried)
        pending.tried.add(server)
        # After a timeout, the options may be to blame.
        has_edns = not pending.tries and self._edns.allows(server)
        pending.tries += 1
        is_last = pending.tries >= len(self._tries_at)
        next_try_at = self._deadline if is_last else pending.since + self._tries_at[pending.tries]
        pending.next_try_at = min(next_try_at, self._deadline)
        self._attempt(pending, server, has_edns=has_edns)

    def _attempt(self, pending: PendingQuery, server: Server, *, has_edns: bool) -> None:
        identifier = secrets.randbits(16)
        while identifier in self._attempts:
            identifier = secrets.randbits(16)
        wire = encode_query(pending.current, identifier, has_edns=has_edns)
        self._attempts[identifier] = Attempt(pending, server, wire, has_edns)
        self._sent += 1
        pending.attempts.add(identifier)
        if has_edns:
            pending.tried_with_edns.add(server)
        pending.last_server = server
        try:
            self._sockets.send(server, wire)
        except BudgetExhausted:
            self._end_attempt(identifier)
            open_servers = {self._attempts[other].server for other in pending.attempts}
            if open_servers - pending.failed:
                pending.next_try_at = self._deadline
            else:
                self._finish(pending, OVER_BUDGET)
        except OSError:
            self._handle_unreachable(server)

    def _handle_failure(self, server: Server, pending: PendingQuery) -> None:
        if server not in pending.failed:
            pending.failed.add(server)
            pending.tries, pending.since = 0, self._clock()
            self._try_next(pending)

    def _handle_unreachable(self, server: Server) -> None:
        for pending in list(self._pending):
            if pending.last_server == server:
                self._handle_failure(server, pending)
            else:
                pending.failed.add(server)

    def _handle_packet(self, server: Server, packet: bytes) -> None:
        identifier = read_identifier(packet)
        attempt = self._attempts.get(identifier)
        reply = None
        if attempt is not None and attempt.server == server and not attempt.is_truncated:
            reply = parse_reply(packet, attempt.pending.current)
        if attempt is None or reply is None:
            self._stray_packets[server] += 1
            allowed = _MAX_STRAY_PACKETS + len(_RETRY_SCHEDULE) * self._sent
            if self._stray_packets[server] > allowed and server in self._servers:
                self._servers.remove(server)
                self._sockets.unwatch_server(server)
                self._handle_unreachable(server)
        elif reply.is_truncated:
            attempt.is_truncated = True
            self._streams.enqueue(identifier, server, attempt.wire)
        else:
            self._handle_reply(identifier, reply)

    def _handle_reply(self, identifier: int, reply: ParsedReply) -> None:
        attempt = self._end_attempt(identifier)
        pending, server = attempt.pending, attempt.server
        if attempt.has_edns and self._edns.blames_options(server, reply):
            self._attempt(pending, server, has_edns=False)
            return
        if reply.is_lame and self._server_count > 1:
            pending.lame_replies[server] = reply
            self._handle_failure(server, pending)
            return
        if reply.outcome is Outcome.FAILURE:
            if not attempt.has_edns:
                self._edns.record_failure(server)
            self._handle_failure(server, pending)
            return
        failed_with_edns = server in pending.tried_with_edns
        self._edns.record_reply(
            server, has_edns=attempt.has_edns, failed_with_edns=failed_with_edns
        )
        self._servers.sort(key=lambda other: other != server)
        if reply.ttl is not None:
            pending.ttl = reply.ttl if pending.ttl is None else min(pending.ttl, reply.ttl)
        if reply.outcome is not Outcome.ALIAS:
            has_ttl = reply.ttl is not None
            self._finish(pending, reply._replace(ttl=pending.ttl if has_ttl else None))
            return
        pending.hops += 1
        if pending.hops > _MAX_ALIAS_HOPS:
            self._finish(pending, FAILURE)
            return
        self._end_all_attempts(pending)
        pending.restart(reply.alias, self._clock())
        self._try_next(pending)

    def _finish(self, pending: PendingQuery, reply: ParsedReply) -> None:
        self._end_all_attempts(pending)
        self._pending.discard(pending)
        self._finished.append((pending.query, reply))

    def _end_all_attempts(self, pending: PendingQuery) -> None:
        for identifier in list(pending.attempts):
            self._end_attempt(identifier)

    def _end_attempt(self, identifier: int) -> Attempt:
        attempt = self._attempts.pop(identifier)
        attempt.pending.attempts.discard(identifier)
        self._streams.cancel(identifier)
        return attempt

    def _handle_stream_message(self, identifier: int, message: bytes | None) -> None:
        reply = None
        if message is not None and read_identifier(message) == identifier:
            reply = parse_reply(message, self._attempts[identifier].pending.current)
        self._handle_reply(identifier, FAILURE if reply is None or reply.is_truncated else reply)
