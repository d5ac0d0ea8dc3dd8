"""Decide which queries have EDNS options (RFC 6891), which some servers and firewalls can't handle.

They drop such a query, or reply with FORMERR, NOTIMP, SERVFAIL or BADVERS. The same query is then
sent once more without the options. Servers that reply only to that are remembered, so that later
lookups don't wait.
"""

from collections.abc import Callable

from validation.engine.dns.messages import ParsedReply
from validation.engine.dns.transport.servers import Server

_MEMORY_SECONDS = 300.0


class EdnsMemory:
    """What recent replies showed about each server. One per process, shared by all its threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._supported_until: dict[Server, float] = {}
        self._unsupported_until: dict[Server, float] = {}

    def is_supported(self, server: Server) -> bool:
        return self._supported_until.get(server, 0.0) > self._clock()

    def is_unsupported(self, server: Server) -> bool:
        until = self._unsupported_until.get(server)
        return until is not None and until > self._clock()

    def record_support(self, server: Server) -> None:
        self._supported_until[server] = self._clock() + _MEMORY_SECONDS

    def record_plain_reply(self, server: Server) -> None:
        """Remember that only a query without EDNS got a reply.

        A server that supported EDNS recently still does: a packet was lost, or another server that
        it queried is to blame.
        """
        if not self.is_supported(server):
            self._unsupported_until[server] = self._clock() + _MEMORY_SECONDS


class EdnsUse:
    """The decisions of one exchange."""

    def __init__(self, memory: EdnsMemory) -> None:
        self._memory = memory
        self._supporting: set[Server] = set()
        self._unsupporting: set[Server] = set()
        # Servers for which leaving out the options didn't help.
        self._failing: set[Server] = set()

    def allows(self, server: Server) -> bool:
        return server not in self._unsupporting and not self._memory.is_unsupported(server)

    def blames_options(self, server: Server, reply: ParsedReply) -> bool:
        """Whether a failure may be due to the options, so that a try without them is worthwhile."""
        if reply.rejects_edns:
            return True
        is_doubtful = server not in self._failing and not self._supports(server)
        return reply.is_server_failure and is_doubtful

    def record_failure(self, server: Server) -> None:
        """Note that a query failed without the options as well."""
        self._failing.add(server)

    def record_reply(self, server: Server, *, has_edns: bool, failed_with_edns: bool) -> None:
        """Learn from a reply. `failed_with_edns`: the query got none from this server with EDNS."""
        if has_edns:
            if server not in self._supporting:
                self._supporting.add(server)
                self._memory.record_support(server)
        elif failed_with_edns and server not in self._supporting:
            self._unsupporting.add(server)
            self._memory.record_plain_reply(server)

    def _supports(self, server: Server) -> bool:
        return server in self._supporting or self._memory.is_supported(server)
