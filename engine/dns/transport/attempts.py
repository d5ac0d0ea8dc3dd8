from dataclasses import dataclass

from engine.dns.messages import ParsedReply, Query
from engine.dns.transport.servers import Server


class PendingQuery:
    def __init__(self, query: Query, now: float) -> None:
        self.query = query
        # After an alias, the query for its target.
        self.current = query
        self.since = now
        self.hops = 0
        self.ttl: float | None = None
        self.next_try_at = 0.0
        self.tries = 0
        self.tried: set[Server] = set()
        self.tried_with_edns: set[Server] = set()
        self.failed: set[Server] = set()
        # One of them counts if all servers are lame.
        self.lame_replies: dict[Server, ParsedReply] = {}
        self.attempts: set[int] = set()
        self.last_server: Server | None = None

    def restart(self, name: str, now: float) -> None:
        self.current = self.query._replace(name=name)
        self.since, self.tries = now, 0
        for state in (self.tried, self.tried_with_edns, self.failed, self.lame_replies):
            state.clear()


@dataclass(eq=False)
class Attempt:
    """A packet to one server. Only its first reply counts."""

    pending: PendingQuery
    server: Server
    wire: bytes
    has_edns: bool
    # The reply continues over TCP.
    is_truncated: bool = False
