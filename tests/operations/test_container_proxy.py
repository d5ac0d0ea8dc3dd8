"""compose's Caddy in front of the product in production: certificate, pools, and its own errors."""

import json
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path

import pytest

from config.server.pools import POOLS
from tests.bench.processes import workers
from tests.config.server.malformed_requests import WRONG_KEY
from tests.operations.test_reverse_proxy import (
    STYLES,
    assert_error_page,
    assert_security_headers,
    get,
    only,
    validate,
)
from tests.servers.container_proxy import (
    CADDYFILE,
    ContainerProxy,
    container_proxy,
    environment,
    find_caddy,
)
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.production import ENVIRONMENT
from tests.servers.raw_http import RawResponse, assert_api_error
from tests.servers.reverse_proxy import NAME
from tests.servers.scripted_upstream import scripted_upstream
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with postgres() as url:
        servers = {**ENVIRONMENT, "DATABASE_URL": url, "WEB_WORKERS": "1"}
        with product(tmp_path_factory.mktemp("product"), **servers) as running:
            yield running


@pytest.fixture(scope="module")
def secret(site: Product) -> str:
    return make_key(site, "caddy@shop.example", 100_000)


@pytest.fixture(scope="module")
def proxy(site: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerProxy]:
    with container_proxy(tmp_path_factory.mktemp("proxy"), site.port) as running:
        yield running


def assert_proxy_error(response: RawResponse, code: str) -> None:
    """Check an error of the API that Caddy made, with the headers that every response has."""
    assert_api_error(response, code)
    error, headers = json.loads(response.body)["error"], response.headers
    assert error["doc_url"] == f"https://{NAME}/docs/errors/#{code}"
    assert re.fullmatch(r"req_\w{20}", error["request_id"])
    assert headers["X-RateLimit-Limit"] == headers["X-RateLimit-Remaining"] == "90"
    assert time.time() + 50 <= int(headers["X-RateLimit-Reset"]) <= time.time() + 61
    assert headers["RateLimit"] == '"address";r=90;t=60'
    assert headers["RateLimit-Policy"] == '"address";q=90;w=60'
    assert_security_headers(headers)


def test_caddyfile_is_valid_and_formatted(tmp_path: Path) -> None:
    for command in (["validate", "--config", str(CADDYFILE)], ["fmt", "--diff", str(CADDYFILE)]):
        ended = subprocess.run(
            [find_caddy(), *command],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_certificate_is_obtained_for_the_host_of_the_service(proxy: ContainerProxy) -> None:
    assert proxy.alpn() == "h2"
    with pytest.raises(ssl.SSLError):
        proxy.send(get("/v1/me"), name="other.example")
    refused = only(proxy.send(get("/v1/me").replace(NAME.encode(), b"evil.example")))
    assert (refused.status, refused.body) == (421, b"")
    assert proxy.send(get("/v1/me").replace(NAME.encode(), b"evil.example"), plain=True) == []


def test_plain_http_redirects_pages_and_refuses_api_calls(
    proxy: ContainerProxy, secret: str
) -> None:
    page = only(proxy.send(get("/docs/?a=b"), plain=True))
    assert (page.status, page.headers["Location"]) == (301, f"https://{NAME}/docs/?a=b")
    assert_security_headers(page.headers)
    spoofed = validate(secret, "X-Forwarded-Proto: https")
    assert_api_error(only(proxy.send(spoofed, plain=True)), "https_required")


def test_each_path_is_passed_on_to_its_pool(tmp_path: Path) -> None:
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
        proxy = stack.enter_context(container_proxy(tmp_path, *ports))
        for path in chain(*paths.values()):
            assert only(proxy.send(get(path))).status == 200
    for pool, upstream in zip(POOLS, upstreams, strict=True):
        received = [request.split()[1].decode() for request in upstream.requests]
        assert received == list(paths[pool])


def test_proxy_overwrites_forwarded_headers(tmp_path: Path) -> None:
    with scripted_upstream(OK) as upstream, container_proxy(tmp_path, upstream.port) as proxy:
        claims = ("X-Forwarded-For: 203.0.113.7", "X-Forwarded-Host: evil.example", "Forwarded: a")
        proxy.send(validate("key", *claims, f"X-Request-Id: {WRONG_KEY}"))
    lines = upstream.requests[0].partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert f"Host: {NAME}" in lines
    assert [line for line in lines if "orwarded" in line] == [
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-Proto: https",
    ]
    (request_id,) = (line for line in lines if line.startswith("X-Request-Id: "))
    assert re.fullmatch(r"X-Request-Id: req_\w{20}", request_id)


def test_call_is_charged_and_keeps_its_request_id(proxy: ContainerProxy, secret: str) -> None:
    response = only(proxy.send(validate(secret, "X-Request-Id: caddys-test-1")))
    assert json.loads(response.body)["verdict"] == "deliverable"
    assert response.headers["X-Request-Id"] == "caddys-test-1"
    print(response.headers)
    assert {"Via", "Server"}.isdisjoint(response.headers)
    chunks = b'25\r\n{"email": "deliverable@sandbox.test"}\r\n0\r\n\r\n'
    chunked = only(proxy.send(validate(secret, "Transfer-Encoding: chunked", body=chunks)))
    assert json.loads(chunked.body)["verdict"] == "deliverable"


def test_body_limits_of_the_product_apply_before_those_of_the_proxy(
    proxy: ContainerProxy, secret: str
) -> None:
    refused = only(proxy.send(validate(secret, body=b"x" * 9000)))
    assert "8 KB" in json.loads(refused.body)["error"]["message"]
    key, kind = f"Authorization: Bearer {secret}", "Content-Type: text/csv"

    def upload(size: int) -> RawResponse:
        head = get("/v1/lists", key, kind, f"Content-Length: {size}", method="POST")
        return only(proxy.send(head + b"jane@shop.example\n".ljust(size)))

    # On a busy machine, the product may ask for another attempt.
    wait_until(lambda: upload(8 << 20).status in {200, 201, 202})
    too_large = upload((8 << 20) + 1)
    assert json.loads(too_large.body)["error"]["message"] == "The body is larger than 8 MB."


def test_larger_body_is_refused_by_the_proxy(tmp_path: Path) -> None:
    # The product might respond before the proxy has read as much.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        threading.Thread(target=read_all, args=(silent,), daemon=True).start()
        with container_proxy(tmp_path, silent.getsockname()[1]) as proxy:
            refused = only(proxy.send(validate("key", body=b"x" * 1_200_000)))
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


def test_frozen_product_gets_503_from_the_proxy(site: Product, secret: str, tmp_path: Path) -> None:
    with container_proxy(tmp_path, site.port, response_header_timeout="1s") as proxy:
        (worker,) = workers(site.process.pid)
        worker.suspend()
        try:
            refused = only(proxy.send(validate(secret)))
            page = only(proxy.send(get("/accounts/login/")))
        finally:
            worker.resume()
        assert_proxy_error(refused, "service_unavailable")
        assert json.loads(refused.body)["error"]["details"] == {"retry_after": 5, "charged": None}
        assert_error_page(page, "Temporarily unavailable")
        assert only(proxy.send(validate(secret))).status == 200


def test_replaced_container_is_awaited_and_a_sent_post_never_repeated(tmp_path: Path) -> None:
    with scripted_upstream() as crashing, container_proxy(tmp_path, crashing.port) as proxy:
        assert_proxy_error(only(proxy.send(validate("key"))), "service_unavailable")
        assert len(crashing.requests) == 1
    with container_proxy(tmp_path / "stopped", 9, lb_try_duration="2s") as proxy:
        started_at = time.monotonic()
        assert_proxy_error(only(proxy.send(validate("key"))), "service_unavailable")
        assert 1.5 < time.monotonic() - started_at < 5


def test_error_page_has_its_styles_while_the_product_is_down(tmp_path: Path) -> None:
    with container_proxy(tmp_path, 9, lb_try_duration="0s") as proxy:
        page = only(proxy.send(get("/accounts/login/")))
        assert_error_page(page, "Temporarily unavailable")
        links = re.findall(r'<link [^>]*href="([^"]+)"', page.body.decode())
        assert STYLES in links
        for link in links:
            response = only(proxy.send(get(link)))
            assert (response.status, len(response.body) > 100) == (200, True)
            assert_security_headers(response.headers)
        # The templates aren't pages.
        assert only(proxy.send(get("/error.json"))).status == 503


def test_proxy_logs_contain_no_client_data_and_no_key(tmp_path: Path) -> None:
    with container_proxy(tmp_path, 9, lb_try_duration="0s") as proxy:
        proxy.send(get(f"/v1/{WRONG_KEY}?email=a@b.example"))
        proxy.send(get(f"/accounts/password/reset/key/1-{WRONG_KEY}/"))
        log = proxy.error_log.read_text()
    assert log.count('"status":503') == 2
    assert "x1Y2" not in log
    assert "b.example" not in log
