"""The shipped nginx before the product in production: what it lets through, and what it says when
it does not."""

import json
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apikeys.errors import REFUSALS
from config.settings.content_security_policy import PERMISSIONS
from tests.bench.processes import workers
from tests.config.server.odd_requests import CLOSE, HOST, SMUGGLED, UNREADABLE, WRONG_KEY
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.production import ENVIRONMENT
from tests.servers.raw import RawAnswer, say
from tests.servers.reverse_proxy import NAME, Front, front
from tests.servers.scripted_upstream import machine

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
    return make_key(site, "front@shop.example", 100_000)


@pytest.fixture(scope="module")
def before(site: Product, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with front(tmp_path_factory.mktemp("front"), site.port) as running:
        yield running


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {NAME}", *headers, "Connection: close"]
    return "\r\n".join([*lines, "", ""]).encode()


def validate(secret: str, *headers: str, body: bytes = BODY) -> bytes:
    key, kind = f"Authorization: Bearer {secret}", "Content-Type: application/json"
    if not any("Transfer-Encoding" in header for header in headers):
        headers = (*headers, f"Content-Length: {len(body)}")
    return get("/v1/validate", key, kind, *headers, method="POST") + body


def the_one(answers: list[RawAnswer]) -> RawAnswer:
    (answer,) = answers
    return answer


def assert_the_one_shape(answer: RawAnswer, code: str) -> None:
    (error,) = json.loads(answer.body).values()
    refusal = REFUSALS[code]
    assert (error["code"], error["type"]) == (code, refusal.type), error
    assert answer.status == refusal.status
    assert list(error) == ["type", "code", "message", "param", "details", "doc_url", "request_id"]
    assert error["doc_url"] == f"https://{NAME}/docs/errors/#{code}"
    headers = answer.headers
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Request-Id"] == error["request_id"]
    assert re.fullmatch(r"req_\w{20}", error["request_id"])
    assert 0 <= int(headers["X-RateLimit-Remaining"]) <= int(headers["X-RateLimit-Limit"])
    assert time.time() + 59 <= int(headers["X-RateLimit-Reset"]) <= time.time() + 161
    assert re.fullmatch(r'"address";r=\d+;t=60', headers["RateLimit"])
    assert re.fullmatch(r'"address";q=\d+;w=60', headers["RateLimit-Policy"])
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "Retry-After" not in headers
    assert headers["Server"] == "nginx"


def assert_our_page(answer: RawAnswer, title: str) -> None:
    text, headers = answer.body.decode(), answer.headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert f"<h1>{title}</h1>" in text
    assert f"<code>{headers['X-Request-Id']}</code>" in text
    assert f'<p class="status">{answer.status}</p>' in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Strict-Transport-Security"].startswith("max-age=63072000")
    assert not re.search(r"<script|<style|style=|<!--", text)


@pytest.mark.parametrize("sent", UNREADABLE.values(), ids=UNREADABLE)
def test_what_the_front_cannot_read_gets_one_clean_400(before: Front, sent: bytes) -> None:
    assert_the_one_shape(the_one(before.say(sent)), "bad_request")


@pytest.mark.parametrize("sent", SMUGGLED.values(), ids=SMUGGLED)
def test_a_smuggled_request_gets_one_clean_400(before: Front, sent: bytes) -> None:
    head = b"POST /v1/validate HTTP/1.1\r\n" + HOST
    smuggled = b"GET /v1/me HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"
    assert_the_one_shape(the_one(before.say(head + sent + smuggled)), "bad_request")


def test_lines_that_end_oddly_are_one_request_for_both(before: Front, secret: str) -> None:
    answer = the_one(before.say(validate(secret).replace(b"\r\n", b"\n")))
    assert json.loads(answer.body)["verdict"] == "deliverable"


@pytest.mark.parametrize("path", ["/v1/me", "/%761/me", "/v1", "/v1?a=b"])
def test_a_method_that_is_never_served_names_those_that_are(before: Front, path: str) -> None:
    answer = the_one(before.say(get(path, method="TRACE")))
    assert_the_one_shape(answer, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD, POST"


def test_a_page_gets_a_page(before: Front) -> None:
    trace = the_one(before.say(get("/accounts/login/", method="TRACE")))
    assert trace.status == 405
    assert_our_page(trace, "This cannot be done here")
    odd = the_one(before.say(get("/accounts/login/", "A: " + "b" * 20_000)))
    assert odd.status == 400
    assert_our_page(odd, "This request cannot be read")
    large = get("/accounts/login/", "Content-Length: 5000000", method="POST")
    assert_our_page(the_one(before.say(large)), "This is too large")


STYLES = "/front/css/base.css"
OF_THE_FRONT = {
    "an unreadable line": b"GARBAGE\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n" + CLOSE + b"\r\n",
    "another Host": b"GET / HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE + b"\r\n",
    "a long header of a page": get("/docs/", "A: " + "b" * 20_000),
    "a long header of the API": get("/v1/me", "A: " + "b" * 20_000),
    "a method": get("/docs/", method="TRACE"),
    "its own address of a page": get("/front-error/page"),
    "its own address of the API": get("/front-error/api"),
    "its styles": get(STYLES),
    "a range of its styles": get(STYLES, "Range: bytes=9999999-"),
    "other styles": get(STYLES, 'If-Match: "other"'),
}


@pytest.mark.parametrize("sent", OF_THE_FRONT.values(), ids=OF_THE_FRONT)
def test_every_response_of_the_front_has_the_security_headers(before: Front, sent: bytes) -> None:
    headers = the_one(before.say(sent)).headers
    assert headers["Strict-Transport-Security"].startswith("max-age=63072000")
    assert_guarded(headers)


def test_the_redirect_to_https_has_the_security_headers(before: Front) -> None:
    answer = the_one(before.say(get("/docs/"), plain=True))
    assert answer.status == 301
    assert_guarded(answer.headers)


def assert_guarded(headers: dict[str, str]) -> None:
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert headers["Permissions-Policy"] == PERMISSIONS
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    for name in ("Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"):
        assert headers[name] == "same-origin"


def test_all_that_an_error_page_shows_comes_from_the_front(before: Front) -> None:
    page = the_one(before.say(get("/accounts/login/", method="TRACE"))).body.decode()
    links = re.findall(r'<link [^>]*href="([^"]+)"', page)
    assert len(links) == 4
    for link in links:
        answer = the_one(before.say(get(link)))
        assert (answer.status, len(answer.body) > 100) == (200, True)
        kind = "image/svg+xml" if link.endswith("svg") else "text/css"
        assert answer.headers["Content-Type"].startswith(kind)
    # Nothing else of the product's files.
    for path in ("/front/", "/front/../manage.py", "/front/css/../../manage.py"):
        assert the_one(before.say(get(path))).status in {302, 400, 404}


def test_a_body_up_to_the_products_limit_is_the_products_to_judge(
    before: Front, secret: str
) -> None:
    refused = the_one(before.say(validate(secret, body=b"x" * 9000)))
    assert "8 KB" in json.loads(refused.body)["error"]["message"]
    assert refused.headers["X-RateLimit-Limit"] == "100000"
    by_the_front = the_one(before.say(validate(secret, body=b"x" * 70_000)))
    assert_the_one_shape(by_the_front, "request_too_large")


def test_a_body_in_chunks_arrives_whole(before: Front, secret: str) -> None:
    chunks = b"".join(b"%x\r\n%c\r\n" % (1, byte) for byte in BODY) + b"0\r\n\r\n"
    sent = validate(secret, "Transfer-Encoding: chunked", body=chunks)
    assert json.loads(the_one(before.say(sent)).body)["verdict"] == "deliverable"


def test_a_page_has_the_headers_that_the_product_gave_it(site: Product, before: Front) -> None:
    sent = get("/accounts/login/")
    behind = the_one(before.say(sent)).headers
    forwarded = ("X-Forwarded-Proto: https", "X-Forwarded-For: 192.0.2.1")
    alone = say(site, get("/accounts/login/", *forwarded)).headers
    changing = {"Server", "Date", "X-Request-Id", "Set-Cookie", "Expires", "Content-Length"}
    assert set(behind) == set(alone)
    for name in set(alone) - changing - {"Content-Security-Policy"}:
        assert behind[name] == alone[name]
    directives = [
        set(headers["Content-Security-Policy"].split("; ")) for headers in (behind, alone)
    ]
    assert directives[0] == directives[1]


def test_a_client_cannot_choose_its_address(site: Product, before: Front) -> None:
    spoofed = (
        *("X-Forwarded-For: 203.0.113.7", "X-Real-IP: 203.0.113.7"),
        *("Forwarded: for=203.0.113.7", "X_Forwarded_For: 203.0.113.7"),
    )
    answer = the_one(before.say(get("/v1/me", "X-Request-Id: spoofed-0001", *spoofed)))
    assert answer.headers["X-Request-Id"] == "spoofed-0001"
    (line,) = site.lines_with("spoofed-0001")
    assert "127.0.0.1" in line
    assert "203.0.113.7" not in line


def test_an_id_that_holds_a_key_is_never_repeated(before: Front) -> None:
    for path, method in (("/v1/me", "GET"), ("/v1/me", "TRACE")):
        sent = get(path, f"X-Request-Id: {WRONG_KEY}", method=method)
        answer = the_one(before.say(sent))
        assert re.fullmatch(r"req_\w{20}", answer.headers["X-Request-Id"])


def test_plain_http_leads_pages_to_https_and_refuses_the_api(before: Front, secret: str) -> None:
    page = the_one(before.say(get("/docs/?a=b"), plain=True))
    assert (page.status, page.headers["Location"]) == (301, f"https://{NAME}/docs/?a=b")
    refused = the_one(before.say(validate(secret), plain=True))
    assert json.loads(refused.body)["error"]["code"] == "https_required"
    pretended = validate(secret, "X-Forwarded-Proto: https")
    assert the_one(before.say(pretended, plain=True)).status == 403
    unknown = the_one(before.say(get("/v1/me"), plain=True))
    assert json.loads(unknown.body)["error"]["code"] == "missing_api_key"


def test_who_asks_for_another_name_gets_no_handshake_and_no_answer(before: Front) -> None:
    with pytest.raises(ssl.SSLError):
        before.say(get("/v1/me"), name="other.example")
    other = get("/v1/me").replace(NAME.encode(), b"evil.example")
    assert before.say(other, plain=True) == []


@pytest.mark.skipif(not shutil.which("curl"), reason="It is curl that speaks HTTP/2 here.")
def test_http_2_is_spoken(before: Front, secret: str) -> None:
    ended = subprocess.run(
        [
            *("curl", "--silent", "--http2", "--cacert", str(before.folder / "front.pem")),
            *("--resolve", f"{NAME}:{before.port}:127.0.0.1", "-w", "\n%{http_version}"),
            *("-H", f"Authorization: Bearer {secret}", "-H", "Content-Type: application/json"),
            *("-d", BODY.decode(), f"https://{NAME}:{before.port}/v1/validate"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    body, version = ended.stdout.rsplit("\n", 1)
    assert json.loads(body)["verdict"] == "deliverable"
    assert version in {"2", "1.1"}
    assert before.alpn() == "h2"


def test_while_the_product_is_frozen_callers_are_told_to_come_back(
    site: Product, secret: str, tmp_path: Path
) -> None:
    with front(tmp_path, site.port, proxy_read_timeout="1s") as impatient:
        (worker,) = workers(site.process.pid)
        worker.suspend()
        try:
            refused = the_one(impatient.say(validate(secret)))
            page = the_one(impatient.say(get("/accounts/login/")))
        finally:
            worker.resume()
        assert_the_one_shape(refused, "service_unavailable")
        assert json.loads(refused.body)["error"]["details"] == {"retry_after": 5, "charged": None}
        assert page.status == 503
        assert_our_page(page, "We are away for a moment")
        assert the_one(impatient.say(validate(secret))).status == 200


def test_while_there_is_no_product_callers_are_told_to_come_back(tmp_path: Path) -> None:
    with front(tmp_path, 9) as alone:
        assert_the_one_shape(the_one(alone.say(get("/v1/me"))), "service_unavailable")
        assert_our_page(the_one(alone.say(get("/"))), "We are away for a moment")


def test_a_post_is_never_sent_again(tmp_path: Path) -> None:
    with machine() as one, machine() as two, front(tmp_path, one.port, two.port) as before:
        assert_the_one_shape(the_one(before.say(validate("key"))), "service_unavailable")
        assert len(one.heard + two.heard) == 1
        # What charges nothing is.
        the_one(before.say(get("/v1/me")))
        assert len(one.heard + two.heard) == 3


def test_a_machine_that_is_off_costs_nobody_an_answer(site: Product, tmp_path: Path) -> None:
    with front(tmp_path, 9, site.port) as before:
        assert [the_one(before.say(validate("key"))).status for _ in range(4)] == [401] * 4


def test_the_product_is_told_what_the_front_saw_and_nothing_else(tmp_path: Path) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with machine(answer) as one, front(tmp_path, one.port) as before:
        said = ("X-Forwarded-Host: evil.example", "X-Forwarded-For: 203.0.113.7")
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        before.say(
            validate(
                "key", *said, "Transfer-Encoding: chunked", "Expect: 100-continue", body=chunks
            )
        )
    (heard,) = one.heard
    head, _, body = heard.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert body == BODY
    assert f"Content-Length: {len(BODY)}" in lines
    assert [line for line in lines if "orwarded" in line] == [
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-Proto: https",
    ]
    assert f"Host: {NAME}" in lines
    assert not {"Transfer-Encoding: chunked", "Expect: 100-continue"} & set(lines)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_who_watches_the_product_reaches_it(before: Front, path: str) -> None:
    assert the_one(before.say(get(path))).status == 200


def test_nothing_of_a_client_or_a_key_stands_in_the_logs(before: Front) -> None:
    for sent in (*UNREADABLE.values(), get(f"/v1/{WRONG_KEY}?email=a@b.example")):
        before.say(sent)
    before.say(get(f"/accounts/password/reset/key/1-{WRONG_KEY}/"))
    log = before.access_log.read_text()
    assert re.search(r"\d req_\w{20} GET /accounts/password 200 ", log)
    assert re.search(r"GET /v1 401 ", log)
    for told in (log, before.error_log.read_text()):
        assert "x1Y2" not in told
        assert "127.0.0.1" not in told
        assert "b.example" not in told
