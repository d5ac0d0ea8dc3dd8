import logging
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from engine.dns.budget import MessageBudget
from engine.dns.cache import Cache
from engine.dns.messages import Outcome, ParsedReply, Query
from engine.dns.transport.edns import EdnsMemory
from engine.dns.transport.exchange import Exchange
from engine.dns.transport.servers import Server, parse_server, system_servers
from engine.dns.trust import ResolverTrust

logger = logging.getLogger(__name__)

MIN_CACHE_SECONDS, MAX_CACHE_SECONDS = 5.0, 3600.0
FAILURE_CACHE_SECONDS = 5.0
_TIMEOUT_PENALTY_SECONDS = 30.0
# After so many lookups without a reply, further ones have a share of the time, enough to query two
# servers once. One a minute has all of it, as a resolver may be slow when it returns.
_MAX_SILENT_LOOKUPS, _SILENT_TIMEOUT_SHARE, _PATIENCE_INTERVAL = 3, 1 / 4, 60.0
CACHE_SIZE = 4_000
_MAX_REPLY_TIMES = 10_000
_INCONCLUSIVE = {Outcome.FAILURE, Outcome.TIMEOUT, Outcome.OVER_BUDGET}


class DnsReply(NamedTuple):
    outcome: Outcome
    records: tuple[Any, ...]
    expires_at: float

    @property
    def is_conclusive(self) -> bool:
        return self.outcome not in _INCONCLUSIVE


@dataclass
class QueryCounters:
    """Count since the last collection. Without a lock, threads may lose a few."""

    cached_domains: int = 0
    lookups: int = 0
    cached_replies: int = 0
    queries: int = 0
    replies: Counter[str] = field(default_factory=Counter)
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_REPLY_TIMES))


class Resolver:
    def __init__(
        self,
        servers: Sequence[str] | None = None,
        *,
        seconds: float = 3.0,
        cache_size: int = CACHE_SIZE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Servers look like 127.0.0.1:5353 or [::1]:53. `seconds` limits a check's queries
        together.
        """
        self.seconds = seconds
        self.clock = clock
        self.cache_size = cache_size
        self.cache: Cache[Query, DnsReply] = Cache(cache_size, clock)
        self.counters = QueryCounters()
        self._servers = [parse_server(text) for text in servers] if servers else None
        self.edns_memory = EdnsMemory(clock)
        self._timed_out_at: dict[Server, float] = {}
        self.lagged_at = self._patient_at = -math.inf
        # In a row. Without a lock, threads may lose a few.
        self.silent_lookups = 0
        self.trust = ResolverTrust(self.responsive_servers, clock)
        self.trust.on_change.append(self.cache.drop_since)

    def start_lookup(
        self, find_owner: Callable[[str], str], deadline: float, budget: MessageBudget | None = None
    ) -> "AbstractContextManager[Lookup]":
        return Lookup(self, find_owner, deadline, budget or MessageBudget())

    @property
    def servers(self) -> list[Server]:
        servers = self._servers or system_servers()
        if servers:
            self._servers = servers
        return sorted(servers, key=self._timed_out_recently)

    def responsive_servers(self) -> list[Server]:
        servers = self.servers
        return [server for server in servers if not self._timed_out_recently(server)] or servers

    def _timed_out_recently(self, server: Server) -> bool:
        return self._timed_out_at.get(server, 0) > self.clock() - _TIMEOUT_PENALTY_SECONDS

    def lookup_seconds(self) -> float:
        """Return a lookup's time limit, which is short while no server replies."""
        # Domains with dead name servers are silent, too, but not the probes.
        if self.silent_lookups < _MAX_SILENT_LOOKUPS or self.trust.got_reply:
            return self.seconds
        if self.clock() < self._patient_at:
            return self.seconds * _SILENT_TIMEOUT_SHARE
        self._patient_at = self.clock() + _PATIENCE_INTERVAL
        logger.error("No resolver replies. Lookups end early until one does.")
        return self.seconds

    def take_counters(self) -> QueryCounters:
        counters, self.counters = self.counters, QueryCounters()
        return counters

    def record_lag(self) -> None:
        self.lagged_at = self.clock()

    def record_timeout(self, server: Server) -> None:
        self._timed_out_at[server] = self.clock()


class Lookup:
    def __init__(
        self,
        resolver: Resolver,
        find_owner: Callable[[str], str],
        deadline: float,
        budget: MessageBudget,
    ) -> None:
        self._resolver = resolver
        self._find_owner = find_owner
        self.budget = budget
        self._trust_changes = resolver.trust.changes
        self.started_at = resolver.clock()
        self.deadline = deadline
        self.replies: dict[Query, DnsReply] = {}
        self._sent_at: dict[Query, float] = {}
        # May send further queries.
        self.on_reply: Callable[[Query], None] = lambda _: None
        self._exchange: Exchange | None = None
        self._got_reply = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._exchange is not None:
            self._exchange.close()
            self._resolver.silent_lookups += not self._got_reply
        # It may refer to this object: see Exchange.close.
        del self.on_reply

    @property
    def is_consistent(self) -> bool:
        return self._resolver.trust.changes == self._trust_changes

    @property
    def sent_queries(self) -> bool:
        return self._exchange is not None

    def send(self, *queries: Query) -> None:
        for query in queries:
            cached = self._resolver.cache.get(query)
            if cached is not None:
                self.replies[query] = cached
                self._resolver.counters.cached_replies += 1
                self.on_reply(query)
            elif (
                query not in self.replies
                and query not in self._sent_at
                and self._resolver.clock() < self.deadline
            ):
                self._sent_at[query] = self._resolver.clock()
                self._resolver.counters.queries += 1
                self._open_exchange().send(query)

    def wait(
        self,
        queries: Iterable[Query],
        *,
        until: float | None = None,
        is_enough: Callable[[DnsReply], bool] | None = None,
    ) -> bool:
        """Wait for all replies, or one that `is_enough`. Return False when time runs out."""
        missing = set(queries)
        replies = [self.replies[query] for query in missing & self.replies.keys()]
        missing -= self.replies.keys()
        ends_at = self.deadline if until is None else min(until, self.deadline)
        while not (is_enough and any(map(is_enough, replies))):
            event = self._open_exchange().receive(ends_at) if missing else None
            if event is None:
                if until is None:
                    # Not cached: the queries may have just been sent.
                    expires_at = self._resolver.clock() + FAILURE_CACHE_SECONDS
                    for query in missing:
                        self._resolver.counters.replies[Outcome.TIMEOUT.value] += 1
                        self.replies[query] = DnsReply(Outcome.TIMEOUT, (), expires_at)
                return False
            reply = self._record_reply(*event)
            replies = [reply] if event[0] in missing else []
            missing.discard(event[0])
        return True

    def partial_deadline(self, share: float) -> float:
        now = self._resolver.clock()
        return now + max(0.0, self.deadline - now) * share

    def _open_exchange(self) -> Exchange:
        if self._exchange is None:
            self._exchange = Exchange(
                self._resolver.servers,
                budget=self.budget,
                seconds=self._resolver.seconds,
                deadline=self.deadline,
                clock=self._resolver.clock,
                on_timeout=self._resolver.record_timeout,
                on_lag=self._resolver.record_lag,
                edns_memory=self._resolver.edns_memory,
            )
        return self._exchange

    def _record_reply(self, query: Query, parsed: ParsedReply) -> DnsReply:
        now, counters = self._resolver.clock(), self._resolver.counters
        if parsed.outcome is Outcome.FAILURE or self._resolver.trust.is_lost:
            seconds = FAILURE_CACHE_SECONDS
        else:
            seconds = min(max(parsed.ttl or 0, MIN_CACHE_SECONDS), MAX_CACHE_SECONDS)
        reply = DnsReply(parsed.outcome, parsed.records, now + seconds)
        counters.replies[parsed.outcome.value] += 1
        counters.seconds.append(now - self._sent_at[query])
        if parsed.outcome is not Outcome.OVER_BUDGET:
            self._got_reply, self._resolver.silent_lookups = True, 0
        self.replies[query] = reply
        # OVER_BUDGET isn't about the name. Replies during a change of trust may be false.
        if parsed.outcome is not Outcome.OVER_BUDGET and self.is_consistent:
            owner = self._find_owner(query.name)
            self._resolver.cache.put(query, reply, expires_at=reply.expires_at, owner=owner)
        self.on_reply(query)
        return reply
