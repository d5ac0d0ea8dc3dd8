"""More comes than a web worker can answer: some are turned away, at once and in the one shape, and
those that were taken on are answered."""

import json
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from runtime.http.load_shedding import MAX_CONCURRENT_REQUESTS
from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import Product, product
from tests.servers.raw import RawAnswer, read_answer

pytestmark = [pytest.mark.process, pytest.mark.proof]

MORE = MAX_CONCURRENT_REQUESTS + 44
TURNED_AWAY = "Too much to do."


@pytest.fixture(scope="module")
def silent() -> Iterator[str]:
    """A name server that never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, silent: str) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("busy")
    given = {"DNS_RESOLVERS": silent, "DNS_TIMEOUT": "5", "WEB_WORKERS": "1"}
    with product(folder, **given) as running:
        yield running


@pytest.fixture(scope="module")
def secret(site: Product) -> str:
    return make_key(site, "busy@shop.example", 100_000, 100_000)


def request(secret: str, email: str, *headers: str, method: str = "POST") -> bytes:
    body = json.dumps({"email": email}).encode() if method == "POST" else b""
    lines = [
        f"{method} /v1/validate HTTP/1.1",
        f"Host: 127.0.0.1\r\nAuthorization: Bearer {secret}",
        f"Content-Type: application/json\r\nContent-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def connect(stack: ExitStack, site: Product, count: int) -> list[socket.socket]:
    address = ("127.0.0.1", site.port)
    return [
        stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(count)
    ]


def assert_turned_away(answer: RawAnswer, asked_at: float) -> None:
    (error,) = json.loads(answer.body).values()
    assert (answer.status, error["code"]) == (503, "service_unavailable")
    assert 1 <= error["details"]["retry_after"] <= 5
    headers = answer.headers
    assert headers["X-Request-Id"] == error["request_id"]
    assert headers["Content-Type"] == "application/json"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert 0 <= int(headers["X-RateLimit-Remaining"]) <= int(headers["X-RateLimit-Limit"])
    assert int(headers["X-RateLimit-Reset"]) >= asked_at
    assert headers["RateLimit"].startswith('"address"')
    assert "Retry-After" not in headers


@contextmanager
def full(site: Product, secret: str) -> Iterator[list[socket.socket]]:
    """Every place is taken by somebody who waits for a locked database, until all are answered."""
    database = sqlite3.connect(site.folder / "db.sqlite3", isolation_level=None)
    with ExitStack() as stack, closing(database) as lock:
        lock.execute("BEGIN IMMEDIATE")
        waiting = connect(stack, site, MORE)
        # Until all of them are let in: what they ask then comes at the same moment.
        time.sleep(1)
        for connection in waiting:
            connection.sendall(request(secret, "no address"))
        yield waiting
        lock.execute("ROLLBACK")
        for connection in waiting:
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def test_who_comes_when_there_is_too_much_to_do_is_told_so_at_once(
    site: Product, secret: str
) -> None:
    asked_at = time.time()
    with full(site, secret) as waiting:
        answers = [read_answer(connection) for connection in waiting]
    # The others waited for the database as long as anybody may, and were known by then.
    unknown = [answer for answer in answers if '"address"' in answer.headers["RateLimit"]]
    # Fewer where the first had given up already when the last came.
    assert 0 < len(unknown) <= MORE - MAX_CONCURRENT_REQUESTS
    for answer in unknown:
        assert_turned_away(answer, asked_at)
        (told,) = site.lines_with(f"[{answer.headers['X-Request-Id']} ")
        assert told.endswith(TURNED_AWAY)


def test_pages_are_not_refused_for_what_the_api_is_asked(site: Product, secret: str) -> None:
    with full(site, secret):
        assert "<h1>Sign in</h1>" in PlainBrowser(site.url).get("/accounts/login/")


def test_a_connection_that_was_turned_away_serves_on(site: Product, secret: str) -> None:
    with ExitStack() as stack, full(site, secret):
        (late,), asked_at = connect(stack, site, 1), time.time()
        late.sendall(request(secret, "no address", "X-Request-Id: my-own-id-1"))
        turned_away = read_answer(late)
        assert_turned_away(turned_away, asked_at)
        assert turned_away.headers["X-Request-Id"] == "my-own-id-1"
        late.sendall(request(secret, "no address", method="HEAD"))
        assert read_answer(late, has_body=False).status == 503
        late.sendall(request(secret, "no address", "Connection: close"))
        assert read_answer(late).headers["Connection"] == "close"
        assert late.recv(1) == b""
    (line,) = site.lines_with("[my-own-id-1 ")
    assert "POST - 503 service_unavailable - 127.0.0.1 " in line
    assert line.endswith(TURNED_AWAY)


def test_those_who_wait_for_a_slow_name_server_keep_nobody_out(site: Product, secret: str) -> None:
    with ExitStack() as stack:
        waiting = connect(stack, site, MORE)
        for number, connection in enumerate(waiting):
            connection.sendall(request(secret, f"jane@silent{number}.com"))
        time.sleep(1)
        answer = HttpCaller(site, secret).validate("deliverable@sandbox.test")
        assert answer.status == 200
        statuses = {read_answer(connection).status for connection in waiting}
    assert 200 in statuses


def test_everything_is_as_before_when_it_is_over(site: Product, secret: str) -> None:
    with full(site, secret) as waiting:
        for connection in waiting:
            read_answer(connection)
    caller = HttpCaller(site, secret)
    assert [caller.validate("no address").status for _ in range(10)] == [200] * 10
    with ExitStack() as stack:
        # As many as there are places: none of them was lost.
        connections = connect(stack, site, MAX_CONCURRENT_REQUESTS)
        for connection in connections:
            connection.sendall(request(secret, "no address"))
        assert {read_answer(connection).status for connection in connections} == {200}
