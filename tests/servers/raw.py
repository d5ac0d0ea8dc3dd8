"""A socket that says exactly what a test wants said, and reads one HTTP answer."""

import socket
from dataclasses import dataclass

from tests.servers.product import Product


@dataclass(frozen=True)
class RawAnswer:
    status: int
    headers: dict[str, str]
    body: bytes


def say(
    site: Product, *pieces: bytes, end: bool = False, seconds: float = 20, body: bool = True
) -> RawAnswer:
    """Sends the pieces; with `end` it then says that nothing more will come."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=seconds) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            if end:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            # It has heard enough; what it answered is still to be read.
            pass
        return read_answer(connection, body)


def read_answer(connection: socket.socket, has_body: bool = True) -> RawAnswer:
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        if not more:
            raise ConnectionError(f"No whole answer, but {received!r}")
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    status = int(first.split()[1])
    if status == 100:
        return read_answer(connection)
    while has_body and len(body) < int(headers.get("Content-Length", 0)):
        more = connection.recv(65536)
        if not more:
            break
        body += more
    return RawAnswer(status, headers, body)


def send_and_leave(site: Product, request: bytes) -> None:
    """A caller who is gone before the answer is there."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(request)
