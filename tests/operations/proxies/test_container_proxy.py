"""compose's Caddy in front of the product in production: its own responses, and restarts."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.server.malformed_requests import WRONG_KEY
from tests.operations.proxies.messages import (
    STYLES,
    assert_error_page,
    assert_proxy_error,
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
from tests.servers.product import Product
from tests.servers.reverse_proxy import NAME

pytestmark = [pytest.mark.process, pytest.mark.proof]


@pytest.fixture(scope="module")
def proxy(site: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerProxy]:
    with container_proxy(tmp_path_factory.mktemp("proxy"), site.port) as running:
        yield running


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


def test_host_other_than_that_of_the_handshake_is_refused(proxy: ContainerProxy) -> None:
    refused = only(proxy.send(get("/v1/me").replace(NAME.encode(), b"evil.example")))
    assert (refused.status, refused.body) == (421, b"")


def test_call_is_charged_and_keeps_its_request_id(proxy: ContainerProxy, secret: str) -> None:
    response = only(proxy.send(validate(secret, "X-Request-Id: caddys-test-1")))
    assert json.loads(response.body)["verdict"] == "deliverable"
    assert response.headers["X-Request-Id"] == "caddys-test-1"
    assert {"Via", "Server"}.isdisjoint(response.headers)
    chunks = b'25\r\n{"email": "deliverable@sandbox.test"}\r\n0\r\n\r\n'
    chunked = only(proxy.send(validate(secret, "Transfer-Encoding: chunked", body=chunks)))
    assert json.loads(chunked.body)["verdict"] == "deliverable"


def test_replaced_container_is_awaited(tmp_path: Path) -> None:
    with container_proxy(tmp_path, 9, lb_try_duration="2s") as proxy:
        started_at = time.monotonic()
        refused = only(proxy.send(validate("key")))
        assert time.monotonic() - started_at > 1.5
        assert_proxy_error(refused, "service_unavailable")
        assert refused.headers["X-RateLimit-Limit"] == "90"


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
