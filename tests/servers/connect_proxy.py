"""An egress proxy on loopback, which only knows CONNECT and records its targets."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer

from tests.servers.dns import serving
from tests.servers.quiet_handler import QuietHandler


@dataclass
class ConnectProxy:
    url: str = ""
    targets: list[str] = field(default_factory=list)
    refuses: bool = False


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    proxy: ConnectProxy


class _Handler(QuietHandler):
    server: _Server

    def do_CONNECT(self) -> None:
        self.server.proxy.targets.append(self.path)
        if self.server.proxy.refuses:
            self.send_error(403)
            return
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as upstream:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=copy, args=(upstream, self.connection), daemon=True)
            back.start()
            copy(self.connection, upstream)
            back.join()


def copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def connect_proxy() -> Iterator[ConnectProxy]:
    proxy = ConnectProxy()
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.proxy, proxy.url = proxy, f"http://127.0.0.1:{server.server_address[1]}"
        with serving(server):
            yield proxy
