"""A receiver of webhooks on loopback, which records requests and responds as a test wants."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from select import select
from typing import Any

from tests.servers.dns import serving
from tests.servers.quiet_handler import QuietHandler


@dataclass(frozen=True)
class Received:
    at: float
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


# Writes the response, or part of one, or none.
Behavior = Callable[["Handler"], None]


def respond(status: int, body: bytes = b"", **headers: str) -> Behavior:
    def behavior(handler: "Handler") -> None:
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behavior


def write_raw(data: bytes) -> Behavior:
    def behavior(handler: "Handler") -> None:
        handler.wfile.write(data)

    return behavior


def silence(handler: "Handler") -> None:
    """Send nothing until the test ends or the caller disconnects."""
    while not handler.server.receiver.ended.wait(0.02):
        if select([handler.connection], [], [], 0)[0]:
            return


def drip(head: bytes) -> Behavior:
    """Send the head of a response, then a byte at a time, for ever."""

    def behavior(handler: "Handler") -> None:
        handler.wfile.write(head)
        while not handler.server.receiver.ended.wait(0.05):
            handler.wfile.write(b"x")

    return behavior


def flood(head: bytes, unit: bytes, size: int = 64 << 20) -> Behavior:
    """Send the head of a response, then repeat the unit as fast as the caller reads."""
    block = unit * (65536 // len(unit))

    def behavior(handler: "Handler") -> None:
        handler.wfile.write(head)
        while handler.server.receiver.flooded < size:
            handler.wfile.write(block)
            handler.server.receiver.flooded += len(block)

    return behavior


@dataclass
class Receiver:
    port: int = 0
    behavior: Behavior = field(default=respond(204))
    requests: list[Received] = field(default_factory=list)
    # Requests that have no response yet, and the most there were.
    in_progress: int = 0
    most_in_progress: int = 0
    # Bytes that a flood could send.
    flooded: int = 0
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/events"

    @property
    def ids(self) -> list[str]:
        with self.lock:
            return [request.id for request in self.requests]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    receiver: Receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore callers that disconnect."""


class Handler(QuietHandler):
    server: _Server

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = self.read_body()
        with receiver.lock:
            headers = dict(self.headers.items())
            receiver.requests.append(Received(time.time(), self.path, headers, body))
            receiver.in_progress += 1
            receiver.most_in_progress = max(receiver.most_in_progress, receiver.in_progress)
            behavior = receiver.behavior
        try:
            behavior(self)
        finally:
            with receiver.lock:
                receiver.in_progress -= 1


@contextmanager
def receiver(
    behavior: Behavior = respond(204),  # noqa: B008
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Receiver]:
    received = Receiver(behavior=behavior)
    with _Server((host, port), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        server.receiver = received
        received.port = server.server_address[1]
        with serving(server):
            try:
                yield received
            finally:
                received.ended.set()
