import select
import socket
from collections.abc import Callable
from functools import partial

from engine.dns.budget import MessageBudget
from engine.dns.transport.servers import Server

_MAX_PACKET_SIZE = 65535
_MAX_PACKETS_PER_READ = 64


class Sockets:
    def __init__(
        self,
        budget: MessageBudget,
        on_packet: Callable[[Server, bytes], None],
        on_unreachable: Callable[[Server], None],
    ) -> None:
        """Call `on_unreachable` if no process listens at a server's port."""
        self.budget = budget
        self._on_packet = on_packet
        self._on_unreachable = on_unreachable
        self._poller = select.poll()
        self._by_server: dict[Server, socket.socket] = {}
        self._listeners: dict[int, Callable[[], None]] = {}

    def send(self, server: Server, packet: bytes) -> None:
        """Raise BudgetExhausted, or OSError, which may be about an earlier packet."""
        self.budget.consume()
        udp = self._by_server.get(server)
        if udp is None:
            udp = self._by_server[server] = socket.socket(server.family, socket.SOCK_DGRAM)
            udp.setblocking(False)
            # The kernel then drops others' packets, and reports a closed port.
            udp.connect(server.address)
            self.watch(udp.fileno(), select.POLLIN, partial(self._read, server, udp))
        udp.send(packet)

    def poll(self, seconds: float) -> bool:
        """Wait for events and call their listeners. Return False if there were none."""
        events = self._poller.poll(max(0.0, seconds) * 1000)
        for descriptor, _ in events:
            # An earlier listener may have removed it.
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
