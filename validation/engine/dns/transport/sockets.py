"""The sockets of one caller, and what is done when one of them has something to say."""

import select
import socket
from collections.abc import Callable

from validation.engine.dns.budget import MessageBudget
from validation.engine.dns.transport.servers import Server

_LARGEST_PACKET = 65535
_PACKETS_AT_ONCE = 64


class Sockets:
    def __init__(
        self,
        budget: MessageBudget,
        on_packet: Callable[[Server, bytes], None],
        on_gone: Callable[[Server], None],
    ) -> None:
        """`on_gone` is called when the machine reports that no process listens at that server."""
        self.budget = budget
        self._on_packet = on_packet
        self._on_gone = on_gone
        self._poll = select.poll()
        self._of_servers: dict[Server, socket.socket] = {}
        # What to do with each, by its descriptor.
        self._listeners: dict[int, Callable[[], None]] = {}

    def send(self, server: Server, packet: bytes) -> None:
        """Raises OSError where that cannot be, which may be about the packet before this one, and
        BudgetExhausted where no message is left."""
        self.budget.spend()
        udp = self._of_servers.get(server) or self._open(server)
        udp.send(packet)

    def listen(self, seconds: float) -> bool:
        """Whether anything was heard in that time."""
        heard = self._poll.poll(max(0.0, seconds) * 1000)
        for descriptor, _ in heard:
            # What one of them said may have ended another.
            listener = self._listeners.get(descriptor)
            if listener is not None:
                listener()
        return bool(heard)

    def watch(self, descriptor: int, events: int, listener: Callable[[], None]) -> None:
        self._listeners[descriptor] = listener
        self._poll.register(descriptor, events)

    def wait_for(self, descriptor: int, events: int) -> None:
        self._poll.modify(descriptor, events)

    def forget(self, descriptor: int) -> None:
        if self._listeners.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def forget_server(self, server: Server) -> None:
        self.forget(self._of_servers[server].fileno())

    def close(self) -> None:
        for udp in self._of_servers.values():
            udp.close()

    def _open(self, server: Server) -> socket.socket:
        """Connected: the kernel drops what others send, and tells when nobody listens."""
        udp = socket.socket(server.family, socket.SOCK_DGRAM)
        self._of_servers[server] = udp
        udp.setblocking(False)
        udp.connect(server.address)
        self.watch(udp.fileno(), select.POLLIN, lambda: self._read(server, udp))
        return udp

    def _read(self, server: Server, udp: socket.socket) -> None:
        for _ in range(_PACKETS_AT_ONCE):
            try:
                packet = udp.recv(_LARGEST_PACKET)
            except BlockingIOError:
                return
            except OSError:
                self._on_gone(server)
                return
            self._on_packet(server, packet)
