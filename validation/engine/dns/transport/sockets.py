"""The UDP sockets of one caller, and the event loop that dispatches to their listeners."""

import select
import socket
from collections.abc import Callable

from validation.engine.dns.budget import MessageBudget
from validation.engine.dns.transport.event_loop import Poller
from validation.engine.dns.transport.servers import Server

_MAX_PACKET_SIZE = 65535
_MAX_PACKETS_PER_READ = 64


class Sockets:
    def __init__(
        self,
        budget: MessageBudget,
        on_packet: Callable[[Server, bytes], None],
        on_unreachable: Callable[[Server], None],
    ) -> None:
        """`on_unreachable` is called when no process listens at a server's port."""
        self.budget = budget
        self._on_packet = on_packet
        self._on_unreachable = on_unreachable
        self._poller = Poller()
        self._by_server: dict[Server, socket.socket] = {}
        self._listeners: dict[int, Callable[[], None]] = {}

    def send(self, server: Server, packet: bytes) -> None:
        """Send a packet.

        Raise BudgetExhausted if no message is left, or OSError, which may report the failure of an
        earlier packet.
        """
        self.budget.consume()
        udp = self._by_server.get(server) or self._open(server)
        udp.send(packet)

    def poll(self, seconds: float) -> bool:
        """Wait for events and call their listeners. Return whether there were any."""
        events = self._poller.poll(max(0.0, seconds) * 1000)
        for descriptor, _ in events:
            # An earlier listener may have removed this one.
            listener = self._listeners.get(descriptor)
            if listener is not None:
                listener()
        return bool(events)

    def watch(self, descriptor: int, events: int, listener: Callable[[], None]) -> None:
        self._listeners[descriptor] = listener
        self._poller.register(descriptor, events)

    def change_events(self, descriptor: int, events: int) -> None:
        self._poller.modify(descriptor, events)

    def unwatch(self, descriptor: int) -> None:
        if self._listeners.pop(descriptor, None) is not None:
            self._poller.unregister(descriptor)

    def unwatch_server(self, server: Server) -> None:
        self.unwatch(self._by_server[server].fileno())

    def close(self) -> None:
        for udp in self._by_server.values():
            udp.close()
        # They refer to this object: see Exchange.close.
        self._listeners.clear()

    def _open(self, server: Server) -> socket.socket:
        """Open a connected socket.

        The kernel then drops packets from other addresses, and reports when no process listens at
        the server's port.
        """
        udp = socket.socket(server.family, socket.SOCK_DGRAM)
        self._by_server[server] = udp
        udp.setblocking(False)
        udp.connect(server.address)
        self.watch(udp.fileno(), select.POLLIN, lambda: self._read(server, udp))
        return udp

    def _read(self, server: Server, udp: socket.socket) -> None:
        for _ in range(_MAX_PACKETS_PER_READ):
            try:
                packet = udp.recv(_MAX_PACKET_SIZE)
            except BlockingIOError:
                return
            except OSError:
                self._on_unreachable(server)
                return
            self._on_packet(server, packet)
