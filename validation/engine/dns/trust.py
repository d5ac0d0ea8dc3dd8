"""Detect dishonest resolvers. One per process, shared by all its threads.

Trust covers all servers together, although each is probed separately: any server may reply to any
query, and a cached reply doesn't record which one sent it. One dishonest server is enough to lose
trust.
"""

import logging
import math
import secrets
import threading
from collections.abc import Callable, Sequence

from validation.engine.dns.budget import MessageBudget
from validation.engine.dns.mail_route import MailRoute
from validation.engine.dns.messages import (
    Outcome,
    ParsedReply,
    Query,
    encode_query,
    parse_reply,
    read_identifier,
)
from validation.engine.dns.probe_names import DENIAL, FABRICATION, Dishonesty
from validation.engine.dns.transport.event_loop import acquire
from validation.engine.dns.transport.servers import Server
from validation.engine.dns.transport.sockets import Sockets

logger = logging.getLogger(__name__)

# A process probes for each kind of dishonesty at most this often, in seconds.
PROBE_INTERVAL = 10.0
# Of more servers than this only the first are probed, to stay within the budget of one lookup.
_MAX_SERVERS = 3


class _Probe:
    """The queries of one probe, sent once to each server. Lost packets are not sent again."""

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
                    self._send(server, query)

    def collect(self, until: float) -> bool:
        """Wait for replies. Return whether the probe is complete."""
        # A packet that has already arrived counts, even if the deadline has passed.
        while self._attempts and self._sockets.poll(until - self._clock()):
            if self._clock() >= until:
                break
        return not self._attempts or until >= self.ends_at

    def close(self) -> None:
        self._sockets.close()

    def _send(self, server: Server, query: Query) -> None:
        identifier = secrets.randbits(16)
        while identifier in self._attempts:
            identifier = secrets.randbits(16)
        self._attempts[identifier] = server, query
        try:
            # Without EDNS, which old servers reject: these replies are small.
            self._sockets.send(server, encode_query(query, identifier, has_edns=False))
        except OSError:
            self._drop_server(server)

    def _drop_server(self, server: Server) -> None:
        self._attempts = {
            identifier: attempt
            for identifier, attempt in self._attempts.items()
            if attempt[0] != server
        }

    def _handle_packet(self, server: Server, packet: bytes) -> None:
        identifier = read_identifier(packet)
        queried_server, query = self._attempts.get(identifier or 0, (None, None))
        if identifier is None or query is None or queried_server != server:
            return
        reply = parse_reply(packet, query)
        if reply is not None:
            del self._attempts[identifier]
            self.replies[server][query] = reply

    def usable_replies(self) -> dict[Server, dict[Query, ParsedReply]]:
        """Return the replies that count.

        As in a lookup, lame replies count only if no server gave any other.
        """
        usable = {
            server: {query: reply for query, reply in replies.items() if not reply.is_lame}
            for server, replies in self.replies.items()
        }
        return usable if any(usable.values()) else self.replies


class DishonestyMonitor:
    """Probes for one kind of dishonesty, and records which servers are dishonest."""

    def __init__(
        self,
        dishonesty: Dishonesty,
        clock: Callable[[], float],
        on_change: Callable[[float], None],
    ) -> None:
        """`on_change` is called when trust is lost or regained.

        Its argument is the last moment at which the servers were known to be honest.
        """
        self.dishonest_servers: set[Server] = set()
        # Whether any server replied to the last probe.
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
        """Probe the servers unless the last probe is recent. Do not wait for replies."""
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
        """Wait for the replies to a running probe.

        The lookup that started the probe always calls this, which closes its sockets.
        """
        # Another lookup that holds the lock is starting the probe or evaluating its replies.
        if self._probe is None and not self._lock.locked():
            return
        acquire(self._lock)
        try:
            probe = self._probe
            if probe is None:
                return
            if probe.collect(min(deadline, probe.ends_at)):
                self._probe = None
                probe.close()
                self._evaluate(probe)
        finally:
            self._lock.release()

    def _was_probed_recently(self) -> bool:
        return self._clock() < self._probed_at + PROBE_INTERVAL

    def _evaluate(self, probe: _Probe) -> None:
        """Update the dishonest servers. A probe without conclusive replies changes nothing."""
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
        self.dishonest_servers = dishonest | (self.dishonest_servers - findings.keys())
        if bool(self.dishonest_servers) is not was_lost:
            self._log_change()
            self._on_change(self._honest_at)
        if not self.dishonest_servers:
            self._honest_at = probe.started_at

    def _log_change(self) -> None:
        if self.dishonest_servers:
            servers = ", ".join(
                sorted(f"{server.host}:{server.port}" for server in self.dishonest_servers)
            )
            logger.error(
                "A resolver %s: %s. Verdicts that depend on it are unknown until it stops.",
                self._dishonesty.description,
                servers,
            )
        else:
            logger.warning(
                "The resolvers are trusted again: none %s.", self._dishonesty.description
            )


class ResolverTrust:
    """Decides which verdicts the resolvers' replies can support."""

    def __init__(self, servers: Callable[[], Sequence[Server]], clock: Callable[[], float]) -> None:
        """`servers` returns the servers to probe, the preferred ones first."""
        # How often trust was lost or regained. Replies received across a change are doubtful.
        self.changes = 0
        # Called with a moment: replies received since then may be false.
        self.on_change: list[Callable[[float], None]] = []
        self._clock = clock
        self._servers = lambda: servers()[:_MAX_SERVERS]
        self._denial = DishonestyMonitor(DENIAL, clock, self._record_change)
        self._fabrication = DishonestyMonitor(FABRICATION, clock, self._record_change)

    @property
    def is_lost(self) -> bool:
        return bool(self._denial.dishonest_servers or self._fabrication.dishonest_servers)

    def start_probe(self, budget: MessageBudget, ends_at: float) -> None:
        """Probe for fabrication alongside a lookup's first queries: it adds no round trip."""
        self._fabrication.start_probe(self._servers, budget, ends_at)

    def finish_probes(self, route: MailRoute, budget: MessageBudget, ends_at: float) -> None:
        """Wait for the probes that a lookup's result depends on.

        Before a verdict relies on missing records, the resolvers must confirm names that exist.
        """
        if route.depends_on_absence:
            self._denial.start_probe(self._servers, budget, ends_at)
            self._denial.finish_probe(ends_at)
        self._fabrication.finish_probe(ends_at)

    def distrusts(self, route: MailRoute) -> bool:
        is_denial = route.depends_on_absence and self._denial.dishonest_servers
        is_fabrication = route.depends_on_records and self._fabrication.dishonest_servers
        return bool(is_denial or is_fabrication)

    def check(self, seconds: float) -> bool:
        """Return whether the resolvers reply and none is dishonest.

        Send probes unless the last ones are recent.
        """
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
