"""Clients that hold connections open without ever completing a request."""

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.bench.load import Address

SILENCE = b""
HALF_A_HEAD = b"POST /empty HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-"
_ACCEPT_SECONDS = 0.3


@contextmanager
def slow_clients(
    address: Address, count: int, sent: bytes, tls: ssl.SSLContext | None = None, name: str = ""
) -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection(address))
            if tls:
                connection = stack.enter_context(tls.wrap_socket(connection, server_hostname=name))
            connection.sendall(sent)
        time.sleep(_ACCEPT_SECONDS)
        yield
    # Let the server notice the closed connections before the next measurement.
    time.sleep(_ACCEPT_SECONDS)
