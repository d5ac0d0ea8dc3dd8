"""Clients that never complete a request: the reverse proxy waits for them, not the product."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.bench.load import Address, Load, build_request, generate
from tests.bench.slow_clients import HALF_A_HEAD, SILENCE, slow_clients
from tests.servers.keys import make_key
from tests.servers.product import Product, product
from tests.servers.reverse_proxy import NAME, ReverseProxy, reverse_proxy

pytestmark = [pytest.mark.process, pytest.mark.fault]

ENVIRONMENT = {"BASE_URL": f"https://{NAME}", "ALLOWED_HOSTS": NAME, "TRUSTED_PROXIES": "1"}
BODY = b'{"email": "deliverable@sandbox.test"}'


@pytest.fixture(scope="module", autouse=True)
def _many_sockets() -> None:
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard_limit), hard_limit))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    with product(folder, **ENVIRONMENT, WEB_WORKERS="1") as running:
        yield running


@pytest.fixture(scope="module")
def proxy(site: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReverseProxy]:
    with reverse_proxy(tmp_path_factory.mktemp("reverse_proxy"), site.port) as running:
        yield running


def test_2000_slow_connections_do_not_delay_other_callers(
    site: Product, proxy: ReverseProxy
) -> None:
    secret = make_key(site, "quick@shop.example", 100_000)
    address = Address("127.0.0.1", proxy.port)
    request = build_request("POST", "/v1/validate", BODY, secret, NAME)
    certificate = str(proxy.folder / "proxy.pem")
    load = Load(address, (request,), 4, 30, max_requests=100, certificate=certificate, name=NAME)
    with (
        slow_clients(address, 1000, HALF_A_HEAD, proxy.tls("http/1.1"), NAME),
        slow_clients(address, 1000, SILENCE),
    ):
        outcome = generate(load)
    # `generate` stops at any other status.
    assert len(outcome.by_status[200]) >= 100


def test_half_sent_body_times_out_without_reaching_the_product(
    site: Product, proxy: ReverseProxy
) -> None:
    request = build_request("POST", "/v1/half-sent", BODY, "", NAME)
    with ExitStack() as stack:
        plain_socket = stack.enter_context(
            socket.create_connection(("127.0.0.1", proxy.port), timeout=30)
        )
        slow = proxy.tls("http/1.1").wrap_socket(plain_socket, server_hostname=NAME)
        stack.enter_context(slow)
        slow.sendall(request[:-5])
        started = time.monotonic()
        assert _is_closed_by_peer(slow)
        assert time.monotonic() - started > 3
    assert "half-sent" not in site.output()


def _is_closed_by_peer(connection: socket.socket) -> bool:
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True
