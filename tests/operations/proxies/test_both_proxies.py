"""What nginx and compose's Caddy have in common: what they forward, and what they refuse."""

import json
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from itertools import chain
from pathlib import Path

import pytest

from config.server.pools import POOLS
from tests.bench.processes import workers
from tests.config.server.malformed_requests import WRONG_KEY
from tests.operations.proxies.messages import (
    OK,
    assert_error_page,
    assert_proxy_error,
    assert_security_headers,
    get,
    only,
    read_error,
    validate,
)
from tests.servers.container_proxy import container_proxy
from tests.servers.keys import make_key
from tests.servers.product import Product
from tests.servers.raw_http import RawResponse, assert_api_error
from tests.servers.reverse_proxy import NAME, ReverseProxy, reverse_proxy
from tests.servers.scripted_upstream import scripted_upstream
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

Start = Callable[..., AbstractContextManager[ReverseProxy]]


def nginx(folder: Path, *pools: int, **changed: str) -> AbstractContextManager[ReverseProxy]:
    """Start nginx in front of one product per pool, or of one for all."""
    return reverse_proxy(folder, pools=pools if len(pools) > 1 else 3 * pools, **changed)


@pytest.fixture(scope="module", params=[nginx, container_proxy], ids=["nginx", "caddy"])
def start(request: pytest.FixtureRequest) -> Start:
    start: Start = request.param
    return start


@pytest.fixture(scope="module")
def proxy(
    start: Start, site: Product, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReverseProxy]:
    with start(tmp_path_factory.mktemp("proxy"), site.port) as running:
        yield running


def test_http_2_is_supported(proxy: ReverseProxy) -> None:
    assert proxy.alpn() == "h2"


def test_unknown_host_gets_neither_handshake_nor_response(proxy: ReverseProxy) -> None:
    with pytest.raises(ssl.SSLError):
        proxy.send(get("/v1/me"), name="other.example")
    other = get("/v1/me").replace(NAME.encode(), b"evil.example")
    assert proxy.send(other, plain=True) == []


def test_plain_http_redirects_pages_and_refuses_api_calls(proxy: ReverseProxy, secret: str) -> None:
    page = only(proxy.send(get("/docs/?a=b"), plain=True))
    assert (page.status, page.headers["Location"]) == (301, f"https://{NAME}/docs/?a=b")
    assert_security_headers(page.headers)
    for headers in ((), ("X-Forwarded-Proto: https",)):
        refused = only(proxy.send(validate(secret, *headers), plain=True))
        assert_api_error(refused, "https_required")


def test_each_path_is_passed_on_to_its_pool(start: Start, tmp_path: Path) -> None:
    paths = {
        "api": ("/v1", "/v1/validate", "/v1/me", "/%761/validate", "/healthz", "/readyz"),
        "bulk": (
            *("/v1/validate/batch", "/v1/lists", "/v1/lists/l_1/download"),
            *("/v1/domains", "/v1/mcp"),
        ),
        "pages": ("/", "/accounts/login/", "/lists/", "/admin/", "/docs/", "/v12"),
    }
    with ExitStack() as stack:
        upstreams = [stack.enter_context(scripted_upstream(OK)) for _ in POOLS]
        ports = (upstream.port for upstream in upstreams)
        proxy = stack.enter_context(start(tmp_path, *ports))
        for path in chain(*paths.values()):
            assert only(proxy.send(get(path))).status == 200
    for pool, upstream in zip(POOLS, upstreams, strict=True):
        received = [request.split()[1].decode() for request in upstream.requests]
        assert received == list(paths[pool])


def test_proxy_overwrites_forwarded_headers(start: Start, tmp_path: Path) -> None:
    claims = ("X-Forwarded-For: 203.0.113.7", "X-Forwarded-Host: evil.example")
    with scripted_upstream(OK) as upstream, start(tmp_path, upstream.port) as proxy:
        proxy.send(validate("key", *claims))
    lines = upstream.requests[0].partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert f"Host: {NAME}" in lines
    assert [line for line in lines if "orwarded" in line] == [
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-Proto: https",
    ]


def test_request_id_that_contains_a_key_is_replaced(proxy: ReverseProxy) -> None:
    for path, method in (("/v1/me", "GET"), ("/v1/me", "TRACE")):
        raw_request = get(path, f"X-Request-Id: {WRONG_KEY}", method=method)
        response = only(proxy.send(raw_request))
        assert re.fullmatch(r"req_\w{20}", response.headers["X-Request-Id"])


def test_body_limits_of_the_product_apply_before_those_of_the_proxy(
    proxy: ReverseProxy, site: Product
) -> None:
    # An account of its own: unfinished lists of all tests would be too large for one.
    secret = make_key(site, f"uploads-{proxy.port}@shop.example", 100_000)
    refused = only(proxy.send(validate(secret, body=b"x" * 9000)))
    assert "8 KB" in json.loads(refused.body)["error"]["message"]
    assert refused.headers["X-RateLimit-Limit"] == "100000"
    key, kind = f"Authorization: Bearer {secret}", "Content-Type: text/csv"

    def upload(size: int) -> RawResponse:
        head = get("/v1/lists", key, kind, f"Content-Length: {size}", method="POST")
        return only(proxy.send(head + b"jane@shop.example\n".ljust(size)))

    # On a busy machine, the product may ask for another attempt.
    wait_until(lambda: upload(8 << 20).status in {200, 201, 202})
    too_large = upload((8 << 20) + 1)
    assert read_error(too_large)["message"] == "The body is larger than 8 MB."


def test_larger_body_is_refused_by_the_proxy(start: Start, tmp_path: Path) -> None:
    # The product might respond before the proxy has read as much.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        threading.Thread(target=read_all, args=(silent,), daemon=True).start()
        with start(tmp_path, silent.getsockname()[1]) as proxy:
            refused = only(proxy.send(validate("key", body=b"x" * 1_200_000)))
            assert_proxy_error(refused, "request_too_large")
            upload = get("/v1/lists", f"Content-Length: {10 << 20}", method="POST")
            refused = only(proxy.send(upload + b"x" * (10 << 20)))
            assert_proxy_error(refused, "request_too_large")
            form = get("/accounts/login/", "Content-Length: 5000000", method="POST")
            page = only(proxy.send(form + b"x" * 5_000_000))
            assert_error_page(page, "This form is too large")


def read_all(listener: socket.socket) -> None:
    """Read each connection to its end, and never respond."""
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                while connection.recv(65536):
                    pass


def test_frozen_product_gets_503_from_the_proxy(
    start: Start, site: Product, secret: str, tmp_path: Path
) -> None:
    option = "proxy_read_timeout" if start is nginx else "response_header_timeout"
    with start(tmp_path, site.port, **{option: "1s"}) as proxy:
        (worker,) = workers(site.process.pid)
        worker.suspend()
        try:
            refused = only(proxy.send(validate(secret)))
            page = only(proxy.send(get("/accounts/login/")))
        finally:
            worker.resume()
        assert_proxy_error(refused, "service_unavailable")
        assert read_error(refused)["details"] == {"retry_after": 5, "charged": None}
        assert_error_page(page, "Temporarily unavailable")
        assert only(proxy.send(validate(secret))).status == 200


def test_post_is_never_repeated(start: Start, tmp_path: Path) -> None:
    with scripted_upstream() as crashing, start(tmp_path, crashing.port) as proxy:
        assert_proxy_error(only(proxy.send(validate("key"))), "service_unavailable")
        assert len(crashing.requests) == 1
