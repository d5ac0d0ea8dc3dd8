"""The shipped nginx in front of the product in production: what it forwards, and how it responds
to requests that it refuses itself."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.server.malformed_requests import CLOSE, HOST, SMUGGLED, UNREADABLE, WRONG_KEY
from tests.operations.proxies.messages import (
    BODY,
    OK,
    STYLES,
    assert_error_page,
    assert_proxy_error,
    assert_security_headers,
    get,
    only,
    validate,
)
from tests.servers.product import Product
from tests.servers.raw_http import send_raw
from tests.servers.reverse_proxy import ReverseProxy, reverse_proxy
from tests.servers.scripted_upstream import scripted_upstream

pytestmark = [pytest.mark.process, pytest.mark.proof]


@pytest.fixture(scope="module")
def proxy(site: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReverseProxy]:
    with reverse_proxy(tmp_path_factory.mktemp("reverse_proxy"), site.port) as running:
        yield running


@pytest.mark.parametrize("raw_request", UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_request_gets_one_400_from_the_proxy(
    proxy: ReverseProxy, raw_request: bytes
) -> None:
    assert_proxy_error(only(proxy.send(raw_request)), "bad_request")


@pytest.mark.parametrize("raw_request", SMUGGLED.values(), ids=SMUGGLED)
def test_smuggled_request_gets_one_400_from_the_proxy(
    proxy: ReverseProxy, raw_request: bytes
) -> None:
    head = b"POST /v1/validate HTTP/1.1\r\n" + HOST
    smuggled = b"GET /v1/me HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"
    assert_proxy_error(only(proxy.send(head + raw_request + smuggled)), "bad_request")


def test_proxy_and_product_agree_on_bare_line_feeds(proxy: ReverseProxy, secret: str) -> None:
    response = only(proxy.send(validate(secret).replace(b"\r\n", b"\n")))
    assert json.loads(response.body)["verdict"] == "deliverable"


@pytest.mark.parametrize("path", ["/v1/me", "/%761/me", "/v1", "/v1?a=b"])
def test_unsupported_method_gets_405_with_allow_header(proxy: ReverseProxy, path: str) -> None:
    response = only(proxy.send(get(path, method="TRACE")))
    assert_proxy_error(response, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD, POST"


def test_page_errors_are_html(proxy: ReverseProxy) -> None:
    trace = only(proxy.send(get("/accounts/login/", method="TRACE")))
    assert trace.status == 405
    assert_error_page(trace, "This page doesn't support that")
    unreadable = only(proxy.send(get("/accounts/login/", "A: " + "b" * 20_000)))
    assert unreadable.status == 400
    assert_error_page(unreadable, "We couldn't read this request")
    large = get("/accounts/login/", "Content-Length: 5000000", method="POST")
    assert_error_page(only(proxy.send(large)), "This form is too large")
    upload = get("/lists/create/", "Content-Length: 11000000", method="POST")
    refused = only(proxy.send(upload))
    assert_error_page(refused, "This form is too large")
    assert b"uploads it in parts" in refused.body


PROXY_REQUESTS = {
    "an unreadable line": b"GARBAGE\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n",
    "another Host": b"GET / HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE + b"\r\n",
    "a long header of a page": get("/docs/", "A: " + "b" * 20_000),
    "a long header of the API": get("/v1/me", "A: " + "b" * 20_000),
    "a method": get("/docs/", method="TRACE"),
    "its own error page": get("/front-error/page"),
    "its own API error": get("/front-error/api"),
    "its styles": get(STYLES),
    "a range of its styles": get(STYLES, "Range: bytes=9999999-"),
    "other styles": get(STYLES, 'If-Match: "other"'),
}


@pytest.mark.parametrize("raw_request", PROXY_REQUESTS.values(), ids=PROXY_REQUESTS)
def test_every_response_of_the_proxy_has_the_security_headers(
    proxy: ReverseProxy, raw_request: bytes
) -> None:
    headers = only(proxy.send(raw_request)).headers
    assert headers["Strict-Transport-Security"].startswith("max-age=63072000")
    assert_security_headers(headers)


def test_assets_of_error_pages_are_served_by_the_proxy(proxy: ReverseProxy) -> None:
    page = only(proxy.send(get("/accounts/login/", method="TRACE"))).body.decode()
    links = re.findall(r'<link [^>]*href="([^"]+)"', page)
    assert len(links) == 4
    for link in links:
        response = only(proxy.send(get(link)))
        assert (response.status, len(response.body) > 100) == (200, True)
        kind = "image/svg+xml" if link.endswith("svg") else "text/css"
        assert response.headers["Content-Type"].startswith(kind)
    # No other file of the product is served.
    for path in ("/front/", "/front/../manage.py", "/front/css/../../manage.py"):
        assert only(proxy.send(get(path))).status in {302, 400, 404}


def test_proxy_preserves_the_headers_of_the_product(site: Product, proxy: ReverseProxy) -> None:
    raw_request = get("/accounts/login/")
    proxied = only(proxy.send(raw_request)).headers
    forwarded = ("X-Forwarded-Proto: https", "X-Forwarded-For: 192.0.2.1")
    direct = send_raw(site, get("/accounts/login/", *forwarded)).headers
    changing = {"Server", "Date", "X-Request-Id", "Set-Cookie", "Expires", "Content-Length"}
    assert set(proxied) == set(direct)
    for name in set(direct) - changing - {"Content-Security-Policy"}:
        assert proxied[name] == direct[name]
    directives = [
        set(headers["Content-Security-Policy"].split("; ")) for headers in (proxied, direct)
    ]
    assert directives[0] == directives[1]


def test_proxy_forwards_compressed_public_pages_and_their_304(proxy: ReverseProxy) -> None:
    page = only(proxy.send(get("/docs/", "Accept-Encoding: gzip")))
    assert page.headers["Content-Encoding"] == "gzip"
    assert b"<h1>Quickstart</h1>" in gzip.decompress(page.body)
    etag = f"If-None-Match: {page.headers['ETag']}"
    assert only(proxy.send(get("/docs/", "Accept-Encoding: gzip", etag))).status == 304


def test_proxy_compresses_no_page_with_a_csrf_token(proxy: ReverseProxy) -> None:
    page = only(proxy.send(get("/accounts/login/", "Accept-Encoding: gzip")))
    assert "Content-Encoding" not in page.headers
    assert b"csrfmiddlewaretoken" in page.body


def test_a_client_cannot_choose_its_address(site: Product, proxy: ReverseProxy) -> None:
    spoofed = (
        *("X-Forwarded-For: 203.0.113.7", "X-Real-IP: 203.0.113.7"),
        *("Forwarded: for=203.0.113.7", "X_Forwarded_For: 203.0.113.7"),
    )
    response = only(proxy.send(get("/v1/me", "X-Request-Id: spoofed-0001", *spoofed)))
    assert response.headers["X-Request-Id"] == "spoofed-0001"
    (line,) = site.wait_for_log_lines("spoofed-0001")
    assert "127.0.0.1" in line
    assert "203.0.113.7" not in line


def test_stopped_product_gets_503_from_the_proxy(tmp_path: Path) -> None:
    with reverse_proxy(tmp_path, 9) as proxy:
        assert_proxy_error(only(proxy.send(get("/v1/me"))), "service_unavailable")
        assert_error_page(only(proxy.send(get("/"))), "Temporarily unavailable")


def test_post_is_never_retried(tmp_path: Path) -> None:
    with (
        scripted_upstream() as first,
        scripted_upstream() as second,
        reverse_proxy(tmp_path, first.port, second.port) as proxy,
    ):
        assert_proxy_error(only(proxy.send(validate("key"))), "service_unavailable")
        assert len(first.requests + second.requests) == 1
        # A GET charges nothing, so it is retried.
        only(proxy.send(get("/v1/me")))
        assert len(first.requests + second.requests) == 3


def test_unreachable_upstream_is_skipped(site: Product, tmp_path: Path) -> None:
    with reverse_proxy(tmp_path, 9, site.port) as proxy:
        assert [only(proxy.send(validate("key"))).status for _ in range(4)] == [401] * 4


def test_chunked_body_is_forwarded_whole(tmp_path: Path) -> None:
    with scripted_upstream(OK) as upstream, reverse_proxy(tmp_path, upstream.port) as proxy:
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        headers = ("Transfer-Encoding: chunked", "Expect: 100-continue")
        proxy.send(validate("key", *headers, body=chunks))
    head, _, body = upstream.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert body == BODY
    assert f"Content-Length: {len(BODY)}" in lines
    assert set(headers).isdisjoint(lines)


def test_proxy_logs_contain_no_client_data_and_no_key(proxy: ReverseProxy) -> None:
    for raw_request in (*UNREADABLE.values(), get(f"/v1/{WRONG_KEY}?email=a@b.example")):
        proxy.send(raw_request)
    proxy.send(get(f"/accounts/password/reset/key/1-{WRONG_KEY}/"))
    log = proxy.access_log.read_text()
    assert re.search(r"\d req_\w{20} GET /accounts/password 200 ", log)
    assert re.search(r"GET /v1 401 ", log)
    for text in (log, proxy.error_log.read_text()):
        assert "x1Y2" not in text
        assert "127.0.0.1" not in text
        assert "b.example" not in text
