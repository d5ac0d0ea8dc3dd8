"""What comes back over a socket: each answer with exactly its own bytes, and in the one shape."""

import json
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.servers.product import Product

# Each answer of the API has these once.
ALWAYS = (
    *("content-type", "content-length", "cache-control", "x-request-id", "x-ratelimit-limit"),
    *("x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "ratelimit-policy"),
    "x-content-type-options",
)
STATUSES = {200, 400, 401, 402, 403, 404, 405, 406, 411, 413, 415, 422, 429}
ERROR = ["type", "code", "message", "param", "details", "doc_url", "request_id"]
_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) [A-Za-z -]*")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def all_named(self, name: str) -> list[str]:
        return [value for given, value in self.headers if given == name]

    def header(self, name: str) -> str:
        return (self.all_named(name) or [""])[0]

    @property
    def document(self) -> Any:
        return json.loads(self.body)


def converse(site: Product, pieces: Iterable[bytes]) -> bytes:
    """All that is answered to the pieces, after which the client says nothing more."""
    received = b""
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            # It has heard enough; what it answered is still to be read.
            pass
        while more := connection.recv(65536):
            received += more
    return received


def read_answers(received: bytes, *, is_head: bool = False) -> list[Answer]:
    """Fails where the bytes are not a row of whole answers."""
    answers = []
    while received:
        head, end, rest = received.partition(b"\r\n\r\n")
        assert end, received[:200]
        first, *lines = head.split(b"\r\n")
        matched = _LINE.fullmatch(first)
        assert matched, first
        status = int(matched[1])
        headers = [_header(line) for line in lines]
        body, received = _body(dict(headers), rest, empty=is_head or status in {100, 204, 304})
        if is_head and _could_not_be_read(received):
            # Nor was it known then that it was a HEAD.
            body, received = received, b""
        if status != 100:
            answers.append(Answer(status, headers, body))
    return answers


def _could_not_be_read(body: bytes) -> bool:
    return b"This is not a request the service can read." in body


def _header(line: bytes) -> tuple[str, str]:
    name, colon, value = line.decode("latin-1").partition(": ")
    assert colon and re.fullmatch(r"[A-Za-z0-9-]+", name), line
    assert value.isprintable(), line
    return name.lower(), value


def _body(headers: dict[str, str], rest: bytes, *, empty: bool) -> tuple[bytes, bytes]:
    if empty:
        return b"", rest
    if headers.get("transfer-encoding") == "chunked":
        return _chunks(rest)
    assert "content-length" in headers, headers
    length = int(headers["content-length"])
    assert len(rest) >= length, (length, rest)
    return rest[:length], rest[length:]


def _chunks(rest: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        chunk, end, rest = rest[:length], rest[length : length + 2], rest[length + 2 :]
        assert end == b"\r\n"
        body += chunk
        if not length:
            return body, rest


def assert_of_the_api(answer: Answer, *, is_head: bool = False) -> None:
    assert answer.status in STATUSES
    for name in ALWAYS:
        assert len(answer.all_named(name)) == 1, (name, answer)
    names = {name for name, _ in answer.headers}
    assert answer.header("content-type") == "application/json"
    assert answer.header("cache-control") == "no-store"
    assert ("retry-after" in names) is (answer.status == 429)
    assert ("www-authenticate" in names) is (answer.status == 401)
    assert not [name for name in names if name.startswith(("access-control", "set-cookie"))]
    limit, remaining = (int(answer.header(f"x-ratelimit-{one}")) for one in ("limit", "remaining"))
    assert 0 <= remaining <= limit
    assert re.fullmatch(r"[A-Za-z0-9_-]{8,64}", answer.header("x-request-id"))
    if answer.status != 200 and not is_head:
        assert list(answer.document) == ["error"]
        error = answer.document["error"]
        assert list(error) == ERROR
        assert error["request_id"] == answer.header("x-request-id")
    if answer.status != 200:
        assert "x-credits-cost" not in names
