"""The shipped nginx in front of the product in production: what it forwards, and how it responds
to requests that it refuses itself."""

import gzip
import json
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import pytest

from config.server.pools import POOLS
from config.settings.content_security_policy import PERMISSIONS_HEADER
from tests.bench.processes import workers
from tests.config.server.malformed_requests import CLOSE, HOST, SMUGGLED, UNREADABLE, WRONG_KEY
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.production import ENVIRONMENT
from tests.servers.raw_http import RawResponse, assert_api_error, send_raw
from tests.servers.reverse_proxy import NAME, ReverseProxy, reverse_proxy
from tests.servers.scripted_upstream import scripted_upstream

pytestmark = [pytest.mark.process, pytest.mark.proof]

BODY = b'{"email": "deliverable@sandbox.test"}'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with postgres() as url:
        environment = {**ENVIRONMENT, "DATABASE_URL": url, "WEB_WORKERS": "1"}
        environment["ANONYMOUS_REQUESTS_PER_MINUTE"] = "1000"
        with product(tmp_path_factory.mktemp("product"), **environment) as running:
            yield running


@pytest.fixture(scope="module")
def secret(site: Product) -> str:
    return make_key(site, "proxy@shop.example", 100_000)


@pytest.fixture(scope="module")
def proxy(site: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReverseProxy]:
    with reverse_proxy(tmp_path_factory.mktemp("reverse_proxy"), site.port) as running:
        yield running


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {NAME}", *headers, "Connection: close"]
    return "\r\n".join([*lines, "", ""]).encode()


def validate(secret: str, *headers: str, body: bytes = BODY) -> bytes:
    key, kind = f"Authorization: Bearer {secret}", "Content-Type: application/json"
    if not any("Transfer-Encoding" in header for header in headers):
        headers = (*headers, f"Content-Length: {len(body)}")
    return get("/v1/validate", key, kind, *headers, method="POST") + body


def only(responses: list[RawResponse]) -> RawResponse:
    (response,) = responses
    return response


def assert_proxy_error(response: RawResponse, code: str) -> None:
    assert_api_error(response, code)
    error, headers = json.loads(response.body)["error"], response.headers
    assert error["doc_url"] == f"https://{NAME}/docs/errors/#{code}"
    assert re.fullmatch(r"req_\w{20}", error["request_id"])
    assert time.time() + 59 <= int(headers["X-RateLimit-Reset"]) <= time.time() + 161
    assert re.fullmatch(r'"address";r=\d+;t=60', headers["RateLimit"])
    assert re.fullmatch(r'"address";q=\d+;w=60', headers["RateLimit-Policy"])
    assert headers["Server"] == "nginx"


def assert_error_page(response: RawResponse, title: str) -> None:
    text, headers = response.body.decode(), response.headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert f"<h1>{title}</h1>" in text
    assert f"<code>{headers['X-Request-Id']}</code>" in text
    assert f'<p class="error-page-status">{response.status}</p>' in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Strict-Transport-Security"].startswith("max-age=63072000")
    assert not re.search(r"<script|<style|style=|<!--", text)


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


STYLES = "/front/css/base.css"
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


def test_the_redirect_to_https_has_the_security_headers(proxy: ReverseProxy) -> None:
    response = only(proxy.send(get("/docs/"), plain=True))
    assert response.status == 301
    assert_security_headers(response.headers)


def assert_security_headers(headers: dict[str, str]) -> None:
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert headers["Permissions-Policy"] == PERMISSIONS_HEADER
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    for name in ("Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"):
        assert headers[name] == "same-origin"


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


def test_body_limit_of_the_api_applies_before_that_of_the_proxy(
    proxy: ReverseProxy, secret: str
) -> None:
    refused = only(proxy.send(validate(secret, body=b"x" * 9000)))
    assert "8 KB" in json.loads(refused.body)["error"]["message"]
    assert refused.headers["X-RateLimit-Limit"] == "100000"
    by_the_proxy = only(proxy.send(validate(secret, body=b"x" * 1_200_000)))
    assert_proxy_error(by_the_proxy, "request_too_large")


def test_lists_may_have_eight_megabytes(proxy: ReverseProxy, secret: str) -> None:
    key, kind = f"Authorization: Bearer {secret}", "Content-Type: text/csv"

    def upload(size: int) -> RawResponse:
        length = f"Content-Length: {size}"
        head = get("/v1/lists", key, kind, length, method="POST")
        return only(proxy.send(head + b"jane@shop.example\n".ljust(size)))

    assert json.loads(upload(8 << 20).body)["state"] in {"parsing", "ready", "failed"}
    refused = upload((8 << 20) + 1)
    assert json.loads(refused.body)["error"]["message"] == "The body is larger than 8 MB."
    assert refused.headers["X-RateLimit-Limit"] == "100000"
    assert_proxy_error(upload(10 << 20), "request_too_large")


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


def test_request_id_that_contains_a_key_is_replaced(proxy: ReverseProxy) -> None:
    for path, method in (("/v1/me", "GET"), ("/v1/me", "TRACE")):
        raw_request = get(path, f"X-Request-Id: {WRONG_KEY}", method=method)
        response = only(proxy.send(raw_request))
        assert re.fullmatch(r"req_\w{20}", response.headers["X-Request-Id"])


def test_plain_http_redirects_pages_and_refuses_api_calls(proxy: ReverseProxy, secret: str) -> None:
    page = only(proxy.send(get("/docs/?a=b"), plain=True))
    assert (page.status, page.headers["Location"]) == (301, f"https://{NAME}/docs/?a=b")
    refused = only(proxy.send(validate(secret), plain=True))
    assert json.loads(refused.body)["error"]["code"] == "https_required"
    spoofed = validate(secret, "X-Forwarded-Proto: https")
    assert only(proxy.send(spoofed, plain=True)).status == 403
    unknown = only(proxy.send(get("/v1/me"), plain=True))
    assert json.loads(unknown.body)["error"]["code"] == "missing_api_key"


def test_unknown_host_gets_neither_handshake_nor_response(proxy: ReverseProxy) -> None:
    with pytest.raises(ssl.SSLError):
        proxy.send(get("/v1/me"), name="other.example")
    other = get("/v1/me").replace(NAME.encode(), b"evil.example")
    assert proxy.send(other, plain=True) == []


def test_http_2_is_supported(proxy: ReverseProxy) -> None:
    assert proxy.alpn() == "h2"


def test_frozen_product_gets_503_from_the_proxy(site: Product, secret: str, tmp_path: Path) -> None:
    with reverse_proxy(tmp_path, site.port, proxy_read_timeout="1s") as proxy:
        (worker,) = workers(site.process.pid)
        worker.suspend()
        try:
            refused = only(proxy.send(validate(secret)))
            page = only(proxy.send(get("/accounts/login/")))
        finally:
            worker.resume()
        assert_proxy_error(refused, "service_unavailable")
        assert json.loads(refused.body)["error"]["details"] == {"retry_after": 5, "charged": None}
        assert page.status == 503
        assert_error_page(page, "Temporarily unavailable")
        assert only(proxy.send(validate(secret))).status == 200


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


def test_each_path_is_passed_on_to_its_pool(tmp_path: Path) -> None:
    response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    paths = {
        "api": ("/v1", "/v1/validate", "/v1/me", "/%761/validate", "/healthz", "/readyz"),
        "bulk": ("/v1/validate/batch", "/v1/lists", "/v1/lists/l_1/download", "/v1/domains"),
        "pages": ("/", "/accounts/login/", "/lists/", "/admin/", "/docs/", "/v12"),
    }
    with ExitStack() as stack:
        upstreams = [stack.enter_context(scripted_upstream(response)) for _ in POOLS]
        ports = tuple(upstream.port for upstream in upstreams)
        proxy = stack.enter_context(reverse_proxy(tmp_path, pools=ports))
        for path in chain(*paths.values()):
            assert only(proxy.send(get(path))).status == 200
    for pool, upstream in zip(POOLS, upstreams, strict=True):
        received = [request.split()[1].decode() for request in upstream.requests]
        assert received == list(paths[pool])


def test_unreachable_upstream_is_skipped(site: Product, tmp_path: Path) -> None:
    with reverse_proxy(tmp_path, 9, site.port) as proxy:
        assert [only(proxy.send(validate("key"))).status for _ in range(4)] == [401] * 4


def test_proxy_overwrites_forwarded_headers(tmp_path: Path) -> None:
    response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with scripted_upstream(response) as first, reverse_proxy(tmp_path, first.port) as proxy:
        spoofed = ("X-Forwarded-Host: evil.example", "X-Forwarded-For: 203.0.113.7")
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        proxy.send(
            validate(
                "key", *spoofed, "Transfer-Encoding: chunked", "Expect: 100-continue", body=chunks
            )
        )
    (forwarded,) = first.requests
    head, _, body = forwarded.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert body == BODY
    assert f"Content-Length: {len(BODY)}" in lines
    assert [line for line in lines if "orwarded" in line] == [
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-Proto: https",
    ]
    assert f"Host: {NAME}" in lines
    assert not {"Transfer-Encoding: chunked", "Expect: 100-continue"} & set(lines)


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
