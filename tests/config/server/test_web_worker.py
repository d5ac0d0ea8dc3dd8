"""Requests as raw bytes, most of which the web worker refuses before Django."""

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.config.server import malformed_requests as malformed
from tests.config.server.malformed_requests import WRONG_KEY
from tests.servers.keys import make_key
from tests.servers.product import Product, product
from tests.servers.raw_http import assert_api_error, read_response, send_raw
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

OK_BODY = b'{"email": "deliverable@sandbox.test"}'
HEAD = b"POST /v1/validate HTTP/1.1\r\nHost: 127.0.0.1\r\n"

# The proxy, but not the worker, refuses these.
ONLY_BY_THE_PROXY = {"another host", "headers of 60,000 characters"}
UNREADABLE = {
    **{name: sent for name, sent in malformed.UNREADABLE.items() if name not in ONLY_BY_THE_PROXY},
    **{name: HEAD + sent for name, sent in malformed.SMUGGLED.items()},
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "only line ends": b"\r\n\r\n\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a method with a space": b"GE T /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a target with a control character": b"GET /v1/\x01me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a target beyond ASCII": "GET /v1/é HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode(),
    "a header without a colon": b"GET /v1/me HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
    "a header without a name": b"GET /v1/me HTTP/1.1\r\n: value\r\n\r\n",
    "a control character in a header": (
        f"GET /v1/me HTTP/1.1\r\nAuthorization: Bearer {WRONG_KEY}\x01\r\n\r\n".encode()
    ),
    "a secret as a header's name": f"GET /v1/me HTTP/1.1\r\n{WRONG_KEY} x: y\r\n\r\n".encode(),
    "500 headers": b"GET /v1/me HTTP/1.1\r\n" + b"A: b\r\n" * 500 + b"\r\n",
    "a truncated chunk": HEAD + b'Transfer-Encoding: chunked\r\n\r\n12\r\n{"ema',
    "chunks that never end": HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
    "a target of another scheme": b"GET ftp://127.0.0.1/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "an unknown expectation": b"GET /v1/me HTTP/1.1\r\nExpect: a-miracle\r\n\r\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("worker"), WEB_WORKERS="1") as running:
        yield running


@pytest.fixture(scope="module")
def secret(site: Product) -> str:
    return make_key(site, "raw@shop.example", 100_000)


def request(
    secret: str, body: bytes = OK_BODY, *headers: bytes, length: int | None = None
) -> bytes:
    declared = len(body) if length is None else length
    lines = [
        b"POST /v1/validate HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Authorization: Bearer " + secret.encode(),
        b"Content-Type: application/json",
        *headers,
    ]
    if not any(header.startswith(b"Transfer-Encoding") for header in headers):
        lines.append(b"Content-Length: %d" % declared)
    return b"\r\n".join([*lines, b"", b""]) + body


def test_unparsable_request_gets_a_400_and_is_logged_without_its_input(site: Product) -> None:
    logged = []
    for name, sent in UNREADABLE.items():
        response = send_raw(site, sent, end=True)
        assert response.status == 400, name
        assert_api_error(response, "bad_request")
        assert WRONG_KEY.encode() not in response.body, name
        assert response.headers["Connection"] == "close", name
        logged.append(f"[{response.headers['X-Request-Id']} -] - - 400 bad_request - 127.0.0.1")
    wait_until(lambda: logged[-1] in site.output())
    log = site.output()
    assert [line for line in logged if line not in log] == []
    assert "400 bad_request - 127.0.0.1 0.0 ms InvalidHeader" in log
    assert "x1Y2" not in log
    assert "Traceback" not in log
    assert not re.search(r"[^\n\x20-\x7e…]", log)


def test_url_is_read_up_to_8_kb(site: Product) -> None:
    long, too_long = (
        send_raw(
            site, f"GET /docs/search/?q={'x' * size} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        )
        for size in (8_100, 8_200)
    )
    assert long.status == 200
    assert "No results for “xxx" in long.body.decode()
    assert_api_error(too_long, "bad_request")
    assert json.loads(too_long.body)["error"]["message"] == "The URL is too long."


def test_absolute_target_is_accepted(site: Product, secret: str) -> None:
    target = f"GET {site.url}/v1/me HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
    sent = f"{target}Authorization: Bearer {secret}\r\n\r\n"
    assert send_raw(site, sent.encode()).status == 200


@pytest.mark.parametrize("version", ["1.2", "1.9"])
def test_response_has_a_supported_http_version(site: Product, secret: str, version: str) -> None:
    sent = request(secret).replace(b"HTTP/1.1", f"HTTP/{version}".encode())
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(sent)
        assert connection.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")


def test_head_request_is_one_line_in_the_access_log(site: Product, secret: str) -> None:
    head = f"HEAD /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n\r\n"
    responses = [send_raw(site, head.encode(), body=False) for _ in range(2)]
    assert [response.status for response in responses] == [200, 200]
    # Lines are in the order of requests, so once the second is logged, the first is complete.
    first, second = (response.headers["X-Request-Id"] for response in responses)
    assert site.wait_for_log_lines(second)
    assert len(site.wait_for_log_lines(first)) == 1


def test_chunked_body_is_read(site: Product, secret: str) -> None:
    chunks = b"".join(b"%x\r\n%c\r\n" % (1, byte) for byte in OK_BODY) + b"0\r\n\r\n"
    response = send_raw(site, request(secret, chunks, b"Transfer-Encoding: chunked"))
    assert json.loads(response.body)["verdict"] == "deliverable"


def test_chunked_body_is_read_up_to_8_kb(site: Product, secret: str) -> None:
    for length, status in ((8192, 200), (8193, 413), (100_000, 413)):
        body = OK_BODY.ljust(length)
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (length, body)
        response = send_raw(site, request(secret, chunks, b"Transfer-Encoding: chunked"))
        assert response.status == status


@pytest.mark.parametrize(("length", "status"), [(8 << 20, 201), ((8 << 20) + 1, 413)])
@pytest.mark.parametrize("is_chunked", [False, pytest.param(True, marks=pytest.mark.proof)])
def test_body_of_a_list_is_read_up_to_8_mb(
    site: Product, secret: str, length: int, status: int, is_chunked: bool
) -> None:
    body = b"jane@shop.example\n".ljust(length)
    sent = request(secret, body)
    if is_chunked:
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (length, body)
        sent = request(secret, chunks, b"Transfer-Encoding: chunked")
    sent = sent.replace(b"/v1/validate", b"/v1/lists", 1).replace(
        b"application/json", b"text/csv", 1
    )
    response = send_raw(site, sent)
    assert response.status == status
    if status == 201:
        assert json.loads(response.body)["bytes"] == length
        location = response.headers["Location"].encode()
        deletion = request(secret, b"").replace(b"POST /v1/validate", b"DELETE " + location, 1)
        assert send_raw(site, deletion).status == 200


@pytest.mark.parametrize("length", [8193, 20_000, 10_000_000, 10**15])
def test_too_large_body_is_refused_by_its_content_length(
    site: Product, secret: str, length: int
) -> None:
    sent = b"x" * min(length, 10_000_000)
    assert_api_error(send_raw(site, request(secret, sent, length=length)), "request_too_large")


def test_too_large_body_with_an_invalid_key_is_401(site: Product) -> None:
    response = send_raw(site, request("svc_live_wrong", b"x" * 1_000_000))
    assert_api_error(response, "invalid_api_key")


def test_expect_100_continue_gets_100(site: Product, secret: str) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(request(secret, b"", b"Expect: 100-continue", length=len(OK_BODY)))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(OK_BODY)
        assert read_response(connection).status == 200


def test_expect_100_continue_with_a_too_large_body_is_refused(site: Product, secret: str) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(request(secret, b"", b"Expect: 100-continue", length=9000))
        assert_api_error(read_response(connection), "request_too_large")


def test_incomplete_body_is_400(site: Product, secret: str) -> None:
    response = send_raw(site, request(secret, OK_BODY, length=len(OK_BODY) + 10), end=True)
    assert_api_error(response, "bad_request")


@pytest.mark.proof
def test_body_that_never_arrives_is_400(site: Product, secret: str) -> None:
    response = send_raw(site, request(secret, b"", length=10))
    assert_api_error(response, "bad_request")
    assert b"didn't arrive within 10 seconds" in response.body


def test_pipelined_requests_are_answered_in_order(site: Product, secret: str) -> None:
    verdicts = [b"risky", b"undeliverable", b"unknown"]
    sent = [request(secret, b'{"email": "%s@sandbox.test"}' % verdict) for verdict in verdicts]
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(b"".join(sent))
        received = b""
        while received.count(b'"verdict"') < 3:
            more = connection.recv(65536)
            assert more, received
            received += more
    assert re.findall(rb'"verdict":"(\w+)"', received) == verdicts


HEADS = {
    b"HEAD /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n": 401,
    b"HEAD /v1/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n": 401,
    b"HEAD /v1/me HTTP/1.1\r\n\r\n": 400,
    HEAD.replace(b"POST", b"HEAD") + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n": 400,
    HEAD.replace(b"POST", b"HEAD") + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab": 400,
}


@pytest.mark.parametrize(("sent", "status"), HEADS.items())
def test_response_to_head_has_no_body(site: Product, sent: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.startswith(b"HTTP/1.1 %d " % status)
    assert received.endswith(b"\r\n\r\n")
    assert b"X-RateLimit-Limit" in received


UNUSUAL_HEADERS = {
    "a content type with an unknown charset": (
        b"X-A: b",
        b"application/json; x*=bogus'en'%41",
        200,
    ),
    "an unknown charset": (b"X-A: b", b"application/json; charset=bogus", 400),
    "cookies": (b"Cookie: session=abc; csrf=\xff", b"application/json", 200),
    "bytes beyond ASCII": (b"X-A: \xff\xfe", b"application/json", 200),
    "a forwarded host": (b"X-Forwarded-Host: evil.example", b"application/json", 200),
    "a method override": (b"X-HTTP-Method-Override: DELETE", b"application/json", 200),
    "an upgrade": (b"Upgrade: h2c\r\nConnection: Upgrade", b"application/json", 200),
    "another site's page": (b"Origin: https://evil.example", b"application/json", 200),
}


@pytest.mark.parametrize(
    ("header", "kind", "status"), UNUSUAL_HEADERS.values(), ids=UNUSUAL_HEADERS
)
def test_unusual_headers_are_handled(
    site: Product, secret: str, header: bytes, kind: bytes, status: int
) -> None:
    sent = request(secret, OK_BODY, header).replace(b"application/json", kind)
    response = send_raw(site, sent)
    assert response.status == status
    assert not [name for name in response.headers if name.startswith("Access-Control")]
    assert "X-RateLimit-Remaining" in response.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(("/v1/credits", 400), ("/v1/usage", 400), ("/v1/nothing", 404)),
        *(("/", 200), ("/docs/", 200), ("/accounts/login/", 200), ("/admin/login/", 302)),
        *(("/static/nothing.css", 404), ("/nothing", 404), ("/healthz", 200)),
    ],
)
def test_query_is_read_whatever_charset_the_content_type_names(
    site: Product, secret: str, path: str, status: int
) -> None:
    for charset in ("utf-8", "rot13", "hex", "punycode", "idna", "undefined", "utf-16"):
        kind = f"text/plain; charset={charset}".encode()
        sent = request(secret, b"").replace(b"application/json", kind)
        sent = sent.replace(b"POST /v1/validate", f"GET {path}?x=%C3%A4".encode())
        assert send_raw(site, sent).status == status, charset


CONNECTION_OPTIONS = {
    (b"Connection: close",): True,
    (b"Connection: Upgrade, close",): True,
    (b"Connection: upgrade ,\tCLOSE ,",): True,
    (b"Connection: keep-alive, close",): True,
    (b"Connection: keep-alive", b"Connection: close"): True,
    (b"Connection: Upgrade", b"Upgrade: h2c", b"Connection: TE, close"): True,
    (): False,
    (b"Connection: keep-alive",): False,
    (b"Connection: closed",): False,
    (b"Connection: Upgrade",): False,
}


def is_closed_after_response(site: Product, sent: bytes) -> bool:
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(sent)
        first = read_response(connection)
        assert first.status == 200
        if first.headers["Connection"] == "close":
            return connection.recv(1) == b""
        connection.sendall(sent)
        assert read_response(connection).status == 200
        return False


@pytest.mark.parametrize(("headers", "is_closed"), CONNECTION_OPTIONS.items())
def test_close_among_the_connection_options_closes_the_connection(
    site: Product, secret: str, headers: tuple[bytes, ...], is_closed: bool
) -> None:
    assert is_closed_after_response(site, request(secret, OK_BODY, *headers)) is is_closed


def test_form_larger_than_3_mb_gets_a_page(site: Product) -> None:
    body = b"x" * 4_000_000
    head = b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with_length = head + b"Content-Length: 4000000\r\n\r\n" + body
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n3d0900\r\n" + body + b"\r\n0\r\n\r\n"
    for sent in (with_length, chunked):
        response = send_raw(site, sent)
        assert (response.status, response.headers["Connection"]) == (413, "close")
        assert b"<h1>This form is too large</h1>" in response.body


@pytest.mark.parametrize(("size", "is_read"), [(8_500_000, True), (9_500_000, False)])
@pytest.mark.parametrize("page", ["create", "lst_4Fq8ZnWcR2tKvYx6BdJm/parts/12"])
def test_form_with_a_list_may_have_9_mb(site: Product, page: str, size: int, is_read: bool) -> None:
    path = f"/lists/{page}/"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}"
    response = send_raw(site, f"{head}\r\n\r\n".encode(), b"x" * size)
    # What is read reaches the form, which finds no CSRF token.
    assert response.status == (403 if is_read else 413)
    assert (b"uploads it in parts" in response.body) is (page == "create" and not is_read)


def test_curl_command_printed_on_the_first_start_works(site: Product) -> None:
    (line,) = (text for text in site.output().splitlines() if text.strip().startswith("curl "))
    ended = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)  # noqa: S602
    assert json.loads(ended.stdout)["verdict"] == "deliverable"


def test_log_contains_no_key_except_the_printed_one(site: Product, secret: str) -> None:
    send_raw(site, request(secret))
    log = Path(site.log).read_text()
    assert secret not in log
    assert log.count(site.owner_key()) == 2


def test_process_list_contains_no_secret(site: Product, secret: str) -> None:
    """All users of the machine can read the process list."""
    send_raw(site, request(secret))
    supervisor = psutil.Process(site.process.pid)
    processes = [supervisor, *supervisor.children(recursive=True)]
    listed = "\n".join(f"{p.name()} {' '.join(p.cmdline())}" for p in processes)
    secrets = [file.read_text().strip() for file in (site.folder / "secrets").iterdir()]
    assert len(processes) >= 4
    assert len(secrets) == 3
    for hidden in (*secrets, secret, site.owner_key(), site.owner_password()):
        assert hidden not in listed
