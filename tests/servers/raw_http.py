"""A raw socket that sends exact bytes and reads one HTTP response."""

import json
import socket
from dataclasses import dataclass

from apikeys.errors import REFUSALS
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


def assert_api_error(response: RawResponse, code: str) -> None:
    """Check the format and the headers of an error that the API responds with."""
    (error,) = json.loads(response.body).values()
    refusal = REFUSALS[code]
    assert (error["code"], error["type"]) == (code, refusal.type), error
    assert response.status == refusal.status
    assert list(error) == ["type", "code", "message", "param", "details", "doc_url", "request_id"]
    headers = response.headers
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Request-Id"] == error["request_id"]
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert 0 <= int(headers["X-RateLimit-Remaining"]) <= int(headers["X-RateLimit-Limit"])
    assert int(headers["X-RateLimit-Reset"]) > 1_700_000_000
    assert headers["RateLimit"].startswith('"')
    assert headers["RateLimit-Policy"].startswith('"')
    assert ("Retry-After" in headers) is (response.status == 429)
