"""Detect dishonest resolvers.

One makes all of them suspect: the cache doesn't record which one replied.
"""

import logging
import math
import secrets
import threading
from collections.abc import Callable, Sequence

from engine.dns.budget import MessageBudget
from engine.dns.mail_route import MailRoute
from engine.dns.messages import (
    Outcome,
    ParsedReply,
    Query,
    encode_query,
    parse_reply,
    read_identifier,
)
from engine.dns.probe_names import DENIAL, FABRICATION, Dishonesty
from engine.dns.transport.servers import Server
from engine.dns.transport.sockets import Sockets

logger = logging.getLogger(__name__)

# Seconds between probes of a kind.
PROBE_INTERVAL = 10.0
_MAX_SERVERS = 3


class _Probe:
    def __init__(
        self,
        servers: Sequence[Server],
        queries: Sequence[Query],
        *,
        budget: MessageBudget,
        ends_at: float,
        clock: Callable[[], float],
    ) -> None:
        self.started_at, self.ends_at = clock(), ends_at
        self.replies: dict[Server, dict[Query, ParsedReply]] = {}
        self._clock = clock
        self._attempts: dict[int, tuple[Server, Query]] = {}
        self._sockets = Sockets(budget, self._handle_packet, self._drop_server)
        for server in servers:
            if budget.remaining >= len(queries):
                self.replies[server] = {}
                for query in queries:
                    identifier = secrets.randbits(16)
                    while identifier in self._attempts:
                        identifier = secrets.randbits(16)
                    self._attempts[identifier] = server, query
                    try:
                        # Without EDNS, which old servers reject.
                        wire = encode_query(query, identifier, has_edns=False)
                        self._sockets.send(server, wire)
                    except OSError:
                        self._drop_server(server)

    def collect(self, until: float) -> bool:
        """Return whether the probe is complete."""
        # A packet that has arrived counts, even late.
        while self._attempts and self._sockets.poll(until - self._clock()):
            if self._clock() >= until:
                break
        return not self._attempts or until >= self.ends_at

    def close(self) -> None:
        self._sockets.close()

    def _drop_server(self, server: Server) -> None:
        self._attempts = {
            identifier: attempt
            for identifier, attempt in self._attempts.items()
            if attempt[0] != server
        }

    def _handle_packet(self, server: Server, packet: bytes) -> None:
        identifier = read_identifier(packet)
        queried_server, query = self._attempts.get(identifier, (None, None))
        if query is None or queried_server != server:
            return
        reply = parse_reply(packet, query)
        if reply is not None:
            del self._attempts[identifier]
            self.replies[server][query] = reply

    def usable_replies(self) -> dict[Server, dict[Query, ParsedReply]]:
        """Return the replies, lame ones only if there are no others."""
        usable = {
            server: {query: reply for query, reply in replies.items() if not reply.is_lame}
            for server, replies in self.replies.items()
        }
        return usable if any(usable.values()) else self.replies


class DishonestyMonitor:
    def __init__(
        self,
        dishonesty: Dishonesty,
        clock: Callable[[], float],
        on_change: Callable[[float], None],
    ) -> None:
        """Call `on_change` with the last moment at which the servers were honest."""
        self.dishonest_servers: set[Server] = set()
        self.got_reply = False
        self._dishonesty = dishonesty
        self._clock = clock
        self._on_change = on_change
        self._probed_at = self._honest_at = -math.inf
        self._probe: _Probe | None = None
        self._lock = threading.Lock()

    def start_probe(
        self, servers: Callable[[], Sequence[Server]], budget: MessageBudget, ends_at: float
    ) -> None:
        """Probe the servers without waiting, unless they were probed recently."""
        if self._was_probed_recently() or not self._lock.acquire(blocking=False):
            return
        try:
            queries = self._dishonesty.make_queries()
            if self._was_probed_recently() or budget.remaining < len(queries):
                return
            if self._probe is not None:
                self._probe.close()
            self._probed_at = self._clock()
            self._probe = _Probe(
                servers(), queries, budget=budget, ends_at=ends_at, clock=self._clock
            )
        finally:
            self._lock.release()

    def finish_probe(self, deadline: float) -> None:
        """Wait for a running probe. The lookup that started it does, and closes its sockets."""
        # Another lookup starts or evaluates the probe.
        if self._probe is None and not self._lock.locked():
            return
        with self._lock:
            probe = self._probe
            if probe is not None and probe.collect(min(deadline, probe.ends_at)):
                self._probe = None
                probe.close()
                self._evaluate(probe)

    def _was_probed_recently(self) -> bool:
        return self._clock() < self._probed_at + PROBE_INTERVAL

    def _evaluate(self, probe: _Probe) -> None:
        usable = probe.usable_replies()
        findings = {
            server: self._dishonesty.is_proven_by(replies) for server, replies in usable.items()
        }
        outcomes = [reply.outcome for replies in usable.values() for reply in replies.values()]
        self.got_reply = any(outcome is not Outcome.FAILURE for outcome in outcomes)
        if all(is_dishonest is None for is_dishonest in findings.values()):
            return
        was_lost = bool(self.dishonest_servers)
        dishonest = {server for server, is_dishonest in findings.items() if is_dishonest}
        dishonest |= self.dishonest_servers - findings.keys()
        self.dishonest_servers = dishonest
        if bool(self.dishonest_servers) is not was_lost:
            if dishonest:
                logger.error(
                    "A resolver %s: %s. Verdicts that depend on it are unknown until it stops.",
                    self._dishonesty.description,
                    ", ".join(sorted(f"{server.host}:{server.port}" for server in dishonest)),
                )
            else:
                logger.warning(
                    "The resolvers are trusted again: none %s.", self._dishonesty.description
                )
            self._on_change(self._honest_at)
        if not self.dishonest_servers:
            self._honest_at = probe.started_at


class ResolverTrust:
    def __init__(self, servers: Callable[[], Sequence[Server]], clock: Callable[[], float]) -> None:
        # Replies received across a change are doubtful.
        self.changes = 0
        # Called with a moment: replies since then may be false.
        self.on_change: list[Callable[[float], None]] = []
        self._clock = clock
        self._servers = lambda: servers()[:_MAX_SERVERS]
        self._denial = DishonestyMonitor(DENIAL, clock, self._record_change)
        self._fabrication = DishonestyMonitor(FABRICATION, clock, self._record_change)

    @property
    def is_lost(self) -> bool:
        return bool(self._denial.dishonest_servers or self._fabrication.dishonest_servers)

    @property
    def got_reply(self) -> bool:
        return self._fabrication.got_reply

    def start_probe(self, budget: MessageBudget, ends_at: float) -> None:
        self._fabrication.start_probe(self._servers, budget, ends_at)

    def finish_probes(self, route: MailRoute, budget: MessageBudget, ends_at: float) -> None:
        if route.depends_on_absence:
            self._denial.start_probe(self._servers, budget, ends_at)
            self._denial.finish_probe(ends_at)
        self._fabrication.finish_probe(ends_at)

    def distrusts(self, route: MailRoute) -> bool:
        is_denial = route.depends_on_absence and self._denial.dishonest_servers
        is_fabrication = route.depends_on_records and self._fabrication.dishonest_servers
        return bool(is_denial or is_fabrication)

    def check(self, seconds: float) -> bool:
        budget, ends_at = MessageBudget(), self._clock() + seconds
        monitors = (self._denial, self._fabrication)
        for monitor in monitors:
            monitor.start_probe(self._servers, budget, ends_at)
        for monitor in monitors:
            monitor.finish_probe(ends_at)
        return self._denial.got_reply and not self.is_lost

    def _record_change(self, honest_until: float) -> None:
        self.changes += 1
        for callback in self.on_change:
            callback(honest_until)
