"""The worker's responses have the same bytes as those of gunicorn's own worker."""

import socket
from collections.abc import Iterator

import pytest

from tests.bench.server import gunicorn

pytestmark = pytest.mark.process

APPLICATION = "tests.config.server.wsgi_responses"
CLOSE = b"Connection: close\r\n"
PATHS = (
    *("/whole", "/streamed", "/in-parts", "/nothing", "/no-content", "/not-modified"),
    *("/file", "/written"),
)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[str, int]]]:
    """Run our worker and gunicorn's."""
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATA_DIR": str(tmp_path_factory.mktemp("responses")),
    }
    ours = ["--config", "config/server/gunicorn_settings.py", "--workers", "1"]
    theirs = ["--worker-class", "gevent", "--workers", "1", "--keep-alive", "10"]
    first = request("GET", "/whole")
    with (
        gunicorn(APPLICATION, ours, environment, first) as our_server,
        gunicorn(APPLICATION, theirs, environment, first) as their_server,
    ):
        yield [our_server.address, their_server.address]


def request(method: str, path: str, version: str = "1.1", headers: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/{version}\r\nHost: 127.0.0.1\r\n"
    return head.encode() + headers + b"\r\n"


def exchange(address: tuple[str, int], sent: bytes) -> list[bytes]:
    """Return the lines that the server sends until it closes the connection."""
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    return [line for line in received.split(b"\r\n") if not line.startswith(b"Date: ")]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_response_has_the_same_bytes(
    servers: list[tuple[str, int]], method: str, path: str, version: str
) -> None:
    sent = request(method, path, version, CLOSE)
    ours, theirs = (exchange(address, sent) for address in servers)
    assert ours[0].split()[1] in {b"200", b"204", b"304"}
    assert ours == theirs


def test_connection_stays_open_after_every_kind_of_response(servers: list[tuple[str, int]]) -> None:
    sent = b"".join(request("GET", path) for path in PATHS) + request("GET", "/whole", "1.1", CLOSE)
    ours, theirs = (exchange(address, sent) for address in servers)
    assert b"".join(ours).count(b"HTTP/1.1 ") == len(PATHS) + 1
    assert ours == theirs


def test_header_with_a_line_break_is_a_500(servers: list[tuple[str, int]]) -> None:
    ours = exchange(servers[0], request("GET", "/injected", "1.1", CLOSE))
    assert ours[0].startswith(b"HTTP/1.1 500 ")
    assert not any(line.startswith(b"X-Injected") for line in ours)
