"""Parse HTTP responses from a socket byte by byte, and assert their common shape."""

import json
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.servers.product import Product

# Every API response has each of these headers once.
REQUIRED_HEADERS = (
    *("content-type", "content-length", "cache-control", "x-request-id", "x-ratelimit-limit"),
    *("x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "ratelimit-policy"),
    "x-content-type-options",
)
STATUSES = {200, 400, 401, 402, 403, 404, 405, 406, 411, 413, 415, 422, 429}
ERROR = ["type", "code", "message", "param", "details", "doc_url", "request_id"]
_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) [A-Za-z -]*")


@dataclass(frozen=True)
class HttpResponse:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header_values(self, name: str) -> list[str]:
        return [value for header, value in self.headers if header == name]

    def header(self, name: str) -> str:
        return (self.header_values(name) or [""])[0]

    @property
    def document(self) -> Any:
        return json.loads(self.body)


def exchange(site: Product, pieces: Iterable[bytes]) -> bytes:
    """Send the pieces, close the sending side, and return everything received."""
    received = b""
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            # The server stopped reading early. Its response is still to be read.
            pass
        while more := connection.recv(65536):
            received += more
    return received


def read_responses(received: bytes, *, is_head: bool = False) -> list[HttpResponse]:
    """Parse consecutive responses, and fail if one is malformed or incomplete."""
    responses = []
    while received:
        head, end, rest = received.partition(b"\r\n\r\n")
        assert end, received[:200]
        first, *lines = head.split(b"\r\n")
        match = _LINE.fullmatch(first)
        assert match, first
        status = int(match[1])
        headers = [_parse_header(line) for line in lines]
        body, received = _split_body(
            dict(headers), rest, is_empty=is_head or status in {100, 204, 304}
        )
        if is_head and _is_unreadable_request(received):
            # The server couldn't parse the request, so it didn't know that it was a HEAD.
            body, received = received, b""
        if status != 100:
            responses.append(HttpResponse(status, headers, body))
    return responses


def _is_unreadable_request(body: bytes) -> bool:
    return b"The request could not be read." in body


def _parse_header(line: bytes) -> tuple[str, str]:
    name, colon, value = line.decode("latin-1").partition(": ")
    assert colon and re.fullmatch(r"[A-Za-z0-9-]+", name), line
    assert value.isprintable(), line
    return name.lower(), value


def _split_body(headers: dict[str, str], rest: bytes, *, is_empty: bool) -> tuple[bytes, bytes]:
    if is_empty:
        return b"", rest
    if headers.get("transfer-encoding") == "chunked":
        return _join_chunks(rest)
    assert "content-length" in headers, headers
    length = int(headers["content-length"])
    assert len(rest) >= length, (length, rest)
    return rest[:length], rest[length:]


def _join_chunks(rest: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        chunk, end, rest = rest[:length], rest[length : length + 2], rest[length + 2 :]
        assert end == b"\r\n"
        body += chunk
        if not length:
            return body, rest


def assert_api_response(response: HttpResponse, *, is_head: bool = False) -> None:
    assert response.status in STATUSES
    for name in REQUIRED_HEADERS:
        assert len(response.header_values(name)) == 1, (name, response)
    names = {name for name, _ in response.headers}
    assert response.header("content-type") == "application/json"
    assert response.header("cache-control") == "no-store"
    assert ("retry-after" in names) is (response.status == 429)
    assert ("www-authenticate" in names) is (response.status == 401)
    assert not [name for name in names if name.startswith(("access-control", "set-cookie"))]
    limit, remaining = (
        int(response.header(f"x-ratelimit-{name}")) for name in ("limit", "remaining")
    )
    assert 0 <= remaining <= limit
    assert re.fullmatch(r"[A-Za-z0-9_-]{8,64}", response.header("x-request-id"))
    if response.status != 200 and not is_head:
        assert list(response.document) == ["error"]
        error = response.document["error"]
        assert list(error) == ERROR
        assert error["request_id"] == response.header("x-request-id")
    if response.status != 200:
        assert "x-credits-cost" not in names
