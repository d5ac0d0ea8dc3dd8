"""One attempt, to real receivers on loopback. What takes its full time: test_process.py."""

import gzip
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import dns.message
import pytest
from pytest_django import Settings
from standardwebhooks import Webhook

from accounts.models import Delivery, DeliveryAttempt, Event, WebhookEndpoint
from accounts.webhooks.keys import set_new_keys
from accounts.webhooks.sending import ERRORS, _tls_context, send
from runtime.encryption import decrypt
from tests.servers.connect_proxy import connect_proxy
from tests.servers.dns import FakeDns
from tests.servers.receiver import Behavior, Receiver, flood, receiver, respond, write_raw
from tests.support.log_records import LogCapture

NAME = "hooks.shop.example"
BODY = '{"id":"evt_1","type":"webhook.test"}'


@pytest.fixture(autouse=True)
def _private_addresses(settings: Settings) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True


def make_delivery(url: str) -> Delivery:
    endpoint = WebhookEndpoint(url=url)
    set_new_keys(endpoint)
    return Delivery(event=Event(public_id="evt_1", body=BODY), endpoint=endpoint)


def send_to(url: str) -> DeliveryAttempt:
    return send(make_delivery(url))


def test_request_has_the_documented_headers_and_a_valid_signature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiver(respond(200, b"thanks", Set_Cookie="session=1")) as shop:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        delivery = make_delivery(f"{shop.url}?source=a%20b")
        for _ in range(2):
            outcome = send(delivery)
            assert (outcome.error, outcome.status, outcome.response) == ("", 200, "thanks")
    first, second = shop.requests
    assert first.path == "/events?source=a%20b"
    assert first.body == BODY.encode()
    assert set(first.headers) == {
        *("Host", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent", "Connection"),
        *("webhook-id", "webhook-timestamp", "webhook-signature"),
    }
    assert first.headers["Content-Type"] == "application/json"
    assert first.headers["Accept-Encoding"] == "identity"
    assert first.headers["Host"] == f"127.0.0.1:{shop.port}"
    assert second.headers.keys() == first.headers.keys()
    assert second.id == "evt_1"
    assert abs(int(second.headers["webhook-timestamp"]) - time.time()) < 100
    assert second.headers["webhook-signature"] == outcome.signature
    Webhook(decrypt(delivery.endpoint.secret)).verify(second.body, second.headers)


@pytest.mark.parametrize(
    ("behavior", "error", "status"),
    [
        (respond(200), "", 200),
        (respond(299, b"fine"), "", 299),
        (respond(199), "status", 199),
        (respond(304), "redirect", 304),
        (respond(404, b"no"), "status", 404),
        (respond(410), "status", 410),
        (respond(500), "status", 500),
        (write_raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"), "incomplete", 200),
        (
            write_raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            "incomplete",
            200,
        ),
        (
            write_raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nbody"),
            "incomplete",
            200,
        ),
        (write_raw(b"HTTP/1.1 999999 OK\r\n\r\n"), "incomplete", None),
        (write_raw(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200), "incomplete", None),
        (write_raw(b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000), "incomplete", None),
        (write_raw(b"SSH-2.0-OpenSSH\r\n"), "incomplete", None),
        (write_raw(b""), "incomplete", None),
    ],
)
def test_response_decides_the_outcome(behavior: Behavior, error: str, status: int | None) -> None:
    with receiver(behavior) as shop:
        outcome = send_to(shop.url)
    assert (outcome.error, outcome.status) == (error, status)
    assert not error or error in ERRORS
    assert len(shop.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status: int) -> None:
    with receiver() as inside, receiver(respond(status, Location=inside.url)) as shop:
        assert send_to(shop.url).error == "redirect"
    assert inside.requests == []


def test_only_the_start_of_a_response_is_read_and_stored_as_text() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    for behavior in (
        respond(200, b"a" * 5_000_000),
        respond(200, b"a" * 3000),
        respond(200, bomb, Content_Encoding="gzip"),
        respond(200, b"\0\x1b[31m\xff\xfe" + "\u202e\u200b<b>\n".encode()),
    ):
        with receiver(behavior) as shop:
            outcome = send_to(shop.url)
        assert (outcome.error, outcome.status) == ("", 200)
        assert len(outcome.response) <= 1024
        assert all(letter.isprintable() or letter in "\n\t" for letter in outcome.response)
    assert outcome.response == "\ufffd\ufffd[31m\ufffd\ufffd\ufffd\ufffd<b>\n"


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (_CHUNKED + b"0\r\n", b"a: b\r\n"),
        (_CHUNKED + b"-1\r\n", b"a"),
        (_CHUNKED, b"1;" + b"a" * 60_000 + b"\r\na\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"a: " + b"b" * 60_000 + b"\r\n"),
    ],
)
def test_endless_response_is_not_read_to_its_end(head: bytes, unit: bytes) -> None:
    """A socket that always has data yields to no timeout and no other attempt."""
    with receiver(flood(head, unit)) as shop:
        assert send_to(shop.url).error == "incomplete"
    # Some is in the buffers of the sockets.
    assert shop.flooded < 32 << 20


def test_invalid_headers_put_no_url_into_the_log(records: LogCapture) -> None:
    with receiver(write_raw(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n")) as shop:
        assert send_to(f"{shop.url}/a-secret-path").error == ""
    assert "secret" not in records.text


def test_retry_after_is_returned() -> None:
    with receiver(respond(503, Retry_After="120")) as shop:
        assert send_to(shop.url).retry_after == "120"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1:9/", "connection_failed"),
        ("http://missing.shop.example/", "dns"),
        ("http://user@127.0.0.1/", "refused_target"),
    ],
)
def test_attempt_without_a_connection_says_why(url: str, error: str, fake_dns: FakeDns) -> None:
    outcome = send_to(url)
    assert (outcome.error, outcome.status) == (error, None)
    assert outcome.signature.startswith("v1,")


def test_private_address_is_refused_at_each_attempt(settings: Settings, fake_dns: FakeDns) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = False
    fake_dns.add_records(NAME, A="127.0.0.1")
    assert send_to(f"https://{NAME}/").error == "refused_target"


def test_unreadable_keys_fail_the_attempt(settings: Settings) -> None:
    delivery = make_delivery("http://127.0.0.1:9/")
    settings.SECRET_KEY = "another-secret-key-without-the-first-one"
    assert send(delivery).error == "internal"


def test_connection_goes_to_the_checked_address(fake_dns: FakeDns) -> None:
    answers = iter(["127.0.0.1", "127.0.0.2"])

    def rebind(query: dns.message.Message) -> dns.message.Message:
        fake_dns.add_records(NAME, A=next(answers))
        return fake_dns.build_reply(query, NAME, "A")

    fake_dns.ttl = 0
    fake_dns.set_behavior(NAME, "A", rebind)
    with receiver() as checked, receiver(host="127.0.0.2", port=checked.port) as inside:
        assert send_to(f"http://{NAME}:{checked.port}/").error == ""
    assert checked.requests[0].headers["Host"] == f"{NAME}:{checked.port}"
    assert inside.requests == []


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates for two names. Programs trust what SSL_CERT_FILE names."""
    folder = tmp_path_factory.mktemp("certificates")
    for name in (NAME, "other.example"):
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
                *("-pkeyopt", "ec_paramgen_curve:P-256", "-subj", f"/CN={name}"),
                *("-addext", f"subjectAltName=DNS:{name}"),
                *("-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.pem")),
            ],
            check=True,
            capture_output=True,
        )
    return folder


@pytest.fixture
def _trust(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    bundle = certificates / "trusted.pem"
    bundle.write_text("".join(path.read_text() for path in certificates.glob("*e.pem")))
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    _tls_context.cache_clear()
    yield
    _tls_context.cache_clear()


def server_context(certificates: Path, name: str = NAME) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / f"{name}.pem", certificates / f"{name}.key")
    return context


def send_over_tls(fake_dns: FakeDns, context: ssl.SSLContext) -> tuple[DeliveryAttempt, Receiver]:
    fake_dns.add_records(NAME, A="127.0.0.1")
    with receiver(tls=context) as shop:
        return send_to(f"https://{NAME}:{shop.port}/"), shop


def test_certificate_is_verified_for_the_name(
    _trust: None, certificates: Path, fake_dns: FakeDns
) -> None:
    names: list[str | None] = []
    context = server_context(certificates)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    outcome, shop = send_over_tls(fake_dns, context)
    assert outcome.error == ""
    assert shop.requests[0].headers["Host"] == f"{NAME}:{shop.port}"
    assert names == [NAME]
    outcome, shop = send_over_tls(fake_dns, server_context(certificates, "other.example"))
    assert (outcome.error, shop.requests) == ("tls", [])


def test_untrusted_certificate_is_refused(certificates: Path, fake_dns: FakeDns) -> None:
    outcome, shop = send_over_tls(fake_dns, server_context(certificates))
    assert (outcome.error, shop.requests) == ("tls", [])


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_old_tls_is_refused(_trust: None, certificates: Path, fake_dns: FakeDns) -> None:
    context = server_context(certificates)
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    outcome, shop = send_over_tls(fake_dns, context)
    assert (outcome.error, shop.requests) == ("tls", [])


def test_server_without_tls_is_refused(fake_dns: FakeDns) -> None:
    fake_dns.add_records(NAME, A="127.0.0.1")
    with receiver() as shop:
        assert send_to(f"https://{NAME}:{shop.port}/").error == "tls"


def test_proxy_gets_the_checked_address(
    _trust: None, certificates: Path, settings: Settings, fake_dns: FakeDns
) -> None:
    with connect_proxy() as proxy:
        settings.WEBHOOK_PROXY = proxy.url
        outcome, shop = send_over_tls(fake_dns, server_context(certificates))
        assert (outcome.error, len(shop.requests)) == ("", 1)
        assert proxy.targets == [f"127.0.0.1:{shop.port}"]
        outcome, _ = send_over_tls(fake_dns, server_context(certificates, "other.example"))
        assert outcome.error == "tls"
        proxy.refuses = True
        outcome, shop = send_over_tls(fake_dns, server_context(certificates))
        assert (outcome.error, shop.requests) == ("connection_failed", [])
