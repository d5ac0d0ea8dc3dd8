"""A raw socket that sends exact bytes and reads one HTTP response."""

import socket
from dataclasses import dataclass

from tests.servers.product import Product


@dataclass(frozen=True)
class RawResponse:
    status: int
    headers: dict[str, str]
    body: bytes


def send_raw(
    site: Product, *pieces: bytes, end: bool = False, seconds: float = 20, body: bool = True
) -> RawResponse:
    """Send the pieces, optionally half-close the connection, and read the response."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=seconds) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            if end:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            # The server stopped reading, but its response can still be read.
            pass
        return read_response(connection, body)


def read_response(connection: socket.socket, has_body: bool = True) -> RawResponse:
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        if not more:
            raise ConnectionError(f"Incomplete response: {received!r}")
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    status = int(first.split()[1])
    if status == 100:
        return read_response(connection)
    while has_body and len(body) < int(headers.get("Content-Length", 0)):
        more = connection.recv(65536)
        if not more:
            break
        body += more
    return RawResponse(status, headers, body)


def send_and_disconnect(site: Product, request: bytes) -> None:
    """Send the request and disconnect before the response."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(request)
