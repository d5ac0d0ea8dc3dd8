"""Overload: a web worker refuses requests beyond its limit and serves all others."""

import json
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from runtime.http.load_shedding import MAX_CONCURRENT_REQUESTS
from tests.bench.load import build_request
from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import Product, product
from tests.servers.raw_http import RawResponse, assert_api_error, read_response

pytestmark = [pytest.mark.process, pytest.mark.fault]

TOO_MANY = MAX_CONCURRENT_REQUESTS + 44
LOG_MESSAGE = "Too many concurrent requests."


@pytest.fixture(scope="module")
def silent() -> Iterator[str]:
    """A name server that never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, silent: str) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("busy")
    settings = {"DNS_RESOLVERS": silent, "DNS_TIMEOUT": "5", "WEB_WORKERS": "1"}
    with product(folder, **settings) as running:
        yield running


@pytest.fixture(scope="module")
def secret(site: Product) -> str:
    return make_key(site, "busy@shop.example", 100_000, 100_000)


def request(secret: str, email: str, header: str = "", method: str = "POST") -> bytes:
    body = json.dumps({"email": email}).encode() if method == "POST" else b""
    built = build_request(method, "/v1/validate", body, secret)
    return built.replace(b"\r\n", f"\r\n{header}\r\n".encode(), 1) if header else built


def connect(stack: ExitStack, site: Product, count: int) -> list[socket.socket]:
    address = ("127.0.0.1", site.port)
    return [
        stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(count)
    ]


def assert_overload_response(response: RawResponse, sent_at: float) -> None:
    assert_api_error(response, "service_unavailable")
    assert 1 <= json.loads(response.body)["error"]["details"]["retry_after"] <= 5
    assert int(response.headers["X-RateLimit-Reset"]) >= sent_at
    assert response.headers["RateLimit"].startswith('"address"')


@contextmanager
def overloaded(site: Product, secret: str) -> Iterator[list[socket.socket]]:
    """Fill the worker's capacity with requests that wait for a locked database."""
    database = sqlite3.connect(site.folder / "db.sqlite3", isolation_level=None)
    with ExitStack() as stack, closing(database) as lock:
        lock.execute("BEGIN IMMEDIATE")
        waiting = connect(stack, site, TOO_MANY)
        # Wait until the worker has accepted all connections, so that the requests are concurrent.
        time.sleep(1)
        for connection in waiting:
            connection.sendall(request(secret, "no address"))
        yield waiting
        lock.execute("ROLLBACK")
        for connection in waiting:
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def test_requests_beyond_the_limit_get_503(site: Product, secret: str) -> None:
    sent_at = time.time()
    with overloaded(site, secret) as waiting:
        responses = [read_response(connection) for connection in waiting]
    # Accepted requests got the account's bucket, as they were authenticated before they timed out.
    refused = [response for response in responses if '"address"' in response.headers["RateLimit"]]
    # Fewer if the first requests had timed out before the last arrived.
    assert 0 < len(refused) <= TOO_MANY - MAX_CONCURRENT_REQUESTS
    for response in refused:
        assert_overload_response(response, sent_at)
        (line,) = site.wait_for_log_lines(f"[{response.headers['X-Request-Id']} ")
        assert line.endswith(LOG_MESSAGE)


def test_pages_are_served_while_the_api_is_overloaded(site: Product, secret: str) -> None:
    with overloaded(site, secret):
        assert "<h1>Sign in</h1>" in PlainBrowser(site.url).get("/accounts/login/")


def test_refused_connection_stays_usable(site: Product, secret: str) -> None:
    with ExitStack() as stack, overloaded(site, secret):
        (late,), sent_at = connect(stack, site, 1), time.time()
        late.sendall(request(secret, "no address", "X-Request-Id: my-own-id-1"))
        refusal = read_response(late)
        assert_overload_response(refusal, sent_at)
        assert refusal.headers["X-Request-Id"] == "my-own-id-1"
        late.sendall(request(secret, "no address", method="HEAD"))
        assert read_response(late, has_body=False).status == 503
        late.sendall(request(secret, "no address", "Connection: close"))
        assert read_response(late).headers["Connection"] == "close"
        assert late.recv(1) == b""
    (line,) = site.wait_for_log_lines("[my-own-id-1 ")
    assert "POST - 503 service_unavailable - 127.0.0.1 " in line
    assert line.endswith(LOG_MESSAGE)


def test_requests_waiting_for_dns_do_not_count_as_load(site: Product, secret: str) -> None:
    with ExitStack() as stack:
        waiting = connect(stack, site, TOO_MANY)
        for number, connection in enumerate(waiting):
            connection.sendall(request(secret, f"jane@silent{number}.com"))
        time.sleep(1)
        response = HttpCaller(site, secret).validate("deliverable@sandbox.test")
        assert response.status == 200
        statuses = {read_response(connection).status for connection in waiting}
    assert 200 in statuses


def test_all_capacity_is_available_after_an_overload(site: Product, secret: str) -> None:
    with overloaded(site, secret) as waiting:
        for connection in waiting:
            read_response(connection)
    caller = HttpCaller(site, secret)
    assert [caller.validate("no address").status for _ in range(10)] == [200] * 10
    with ExitStack() as stack:
        # The whole capacity: the overload lost none of it.
        connections = connect(stack, site, MAX_CONCURRENT_REQUESTS)
        for connection in connections:
            connection.sendall(request(secret, "no address"))
        assert {read_response(connection).status for connection in connections} == {200}
