"""A SOCKS5 proxy on loopback that records its targets, and misbehaves as a test wants."""

import socket
import socketserver
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import quote

from tests.servers.connect_proxy import copy
from tests.servers.dns import serving

USER, PASSWORD = "probe", "s3cret@:/"


@dataclass
class SocksProxy:
    address: str = ""
    targets: list[tuple[str, int]] = field(default_factory=list)
    # Sent in reply to each message, instead of a proxy's replies. The connection then stays open,
    # without further replies.
    script: Sequence[bytes] | None = None
    # Seconds between the bytes of the script.
    trickles: float = 0
    # What the reply to CONNECT contains: a code, and the proxy's own address with its type.
    code: int = 0
    bound: bytes = b"\1\0\0\0\0\0\0"
    # Other servers' addresses than those asked for.
    redirects: dict[str, str] = field(default_factory=dict)
    # Another port than the one asked for.
    port: int | None = None

    def url(self, user: str = USER, password: str = PASSWORD) -> str:
        return f"socks5://{quote(user)}:{quote(password, safe='')}@{self.address}"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    proxy: SocksProxy


class _Handler(socketserver.BaseRequestHandler):
    server: _Server
    request: socket.socket

    def handle(self) -> None:
        with suppress(OSError):
            if self.server.proxy.script is None:
                self._serve()
            else:
                for reply in self.server.proxy.script:
                    self.request.recv(1024)
                    self._send(reply)
                while self.request.recv(1024):
                    pass

    def _send(self, reply: bytes) -> None:
        if not self.server.proxy.trickles:
            self.request.sendall(reply)
            return
        for byte in reply:
            self.request.sendall(bytes((byte,)))
            time.sleep(self.server.proxy.trickles)

    def _serve(self) -> None:
        proxy, client = self.server.proxy, self.request
        _, count = client.recv(2, socket.MSG_WAITALL)
        if 2 not in client.recv(count, socket.MSG_WAITALL):
            client.sendall(b"\5\xff")
            return
        client.sendall(b"\5\2")
        user = client.recv(client.recv(2, socket.MSG_WAITALL)[1], socket.MSG_WAITALL)
        password = client.recv(client.recv(1)[0], socket.MSG_WAITALL)
        is_known = (user.decode(), password.decode()) == (USER, PASSWORD)
        client.sendall(b"\1\0" if is_known else b"\1\1")
        if not is_known:
            return
        kind = client.recv(4, socket.MSG_WAITALL)[3]
        address = str(ip_address(client.recv({1: 4, 4: 16}[kind], socket.MSG_WAITALL)))
        port = int.from_bytes(client.recv(2, socket.MSG_WAITALL), "big")
        proxy.targets.append((address, port))
        if proxy.code:
            client.sendall(bytes((5, proxy.code, 0)) + proxy.bound)
            return
        with socket.create_connection(
            (proxy.redirects.get(address, address), proxy.port or port)
        ) as target:
            client.sendall(b"\5\0\0" + proxy.bound)
            back = threading.Thread(target=copy, args=(target, client), daemon=True)
            back.start()
            copy(client, target)
            back.join()


@contextmanager
def socks_proxy() -> Iterator[SocksProxy]:
    proxy = SocksProxy()
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.proxy, proxy.address = proxy, f"127.0.0.1:{server.server_address[1]}"
        with serving(server):
            yield proxy
