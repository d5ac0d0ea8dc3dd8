"""Decide which queries have EDNS options (RFC 6891), which some servers refuse or drop."""

from collections.abc import Callable

from engine.dns.messages import ParsedReply
from engine.dns.transport.servers import Server

_MEMORY_SECONDS = 300.0


class EdnsMemory:
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
        """Ignore servers that supported EDNS recently: a packet was lost."""
        if not self.is_supported(server):
            self._unsupported_until[server] = self._clock() + _MEMORY_SECONDS


class EdnsUse:
    def __init__(self, memory: EdnsMemory) -> None:
        self._memory = memory
        self._supporting: set[Server] = set()
        self._unsupporting: set[Server] = set()
        self._failing: set[Server] = set()

    def allows(self, server: Server) -> bool:
        return server not in self._unsupporting and not self._memory.is_unsupported(server)

    def blames_options(self, server: Server, reply: ParsedReply) -> bool:
        if reply.rejects_edns:
            return True
        is_supported = server in self._supporting or self._memory.is_supported(server)
        return reply.is_server_failure and server not in self._failing and not is_supported

    def record_failure(self, server: Server) -> None:
        self._failing.add(server)

    def record_reply(self, server: Server, *, has_edns: bool, failed_with_edns: bool) -> None:
        """Record a reply. With `failed_with_edns`, the query with EDNS got none."""
        if has_edns:
            if server not in self._supporting:
                self._supporting.add(server)
                self._memory.record_support(server)
        elif failed_with_edns and server not in self._supporting:
            self._unsupporting.add(server)
            self._memory.record_plain_reply(server)
