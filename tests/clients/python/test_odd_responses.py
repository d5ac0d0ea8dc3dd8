"""Responses that the API doesn't send, but proxies and networks do."""

import asyncio
import pickle
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from emailvalidation import (
    Client,
    ConfigurationError,
    ConnectionFailed,
    DeadlineExceeded,
    EmailValidationError,
    ListFailed,
    RateLimitError,
    webhooks,
)
from emailvalidation.aio import AsyncClient
from emailvalidation.types import AddressList

from tests.servers.scripted_upstream import ScriptedUpstream, scripted_upstream

KEY = "svc_live_" + "a" * 38
RUNNING = b'{"id":"lst_1","state":"running"}'


def respond(
    body: bytes = b"", status: str = "200 OK", media_type: str = "application/json", more: str = ""
) -> bytes:
    """Return the last response of a connection."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{more}"
    return f"{head}Content-Type: {media_type}\r\n\r\n".encode() + body


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with scripted_upstream() as running:
        yield running


@pytest.fixture
def client(upstream: ScriptedUpstream) -> Client:
    return Client(KEY, f"http://127.0.0.1:{upstream.port}")


@pytest.mark.parametrize(
    "response",
    [
        respond(status="204 No Content"),
        respond(status="301 Moved", more="Location: /elsewhere\r\n"),
        respond(b"Hello", media_type="text/plain"),
        respond(b"<p>Sign in", media_type="Text/HTML; charset=utf-8"),
        respond(b"null"),
        respond(b"[]"),
        respond(b"{}"),
        respond(b'{"checks":"x"}'),
        respond(b'{"mx":{"records":7}}'),
        respond(b'{"error":{"details":"x"}}', status="400 Bad Request"),
    ],
)
def test_sign_up_check_accepts_without_an_answer_of_the_api(
    upstream: ScriptedUpstream, client: Client, response: bytes
) -> None:
    upstream.response = response
    assert client.sign_up_check("jane@shop.example").accept


def test_sign_up_check_accepts_what_cannot_be_sent(client: Client) -> None:
    assert client.sign_up_check("\ud800@shop.example", timeout=0.5).accept
    unknown = Client(KEY, "https://api..example.com")
    assert unknown.sign_up_check("jane@shop.example", timeout=0.5).accept


def test_body_that_comes_after_the_head_of_a_last_response_is_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                head, body = respond(b'{"plan":"free"}').split(b"{")
                connection.sendall(head)
                time.sleep(0.1)
                connection.sendall(b"{" + body)

        thread = threading.Thread(target=answer)
        thread.start()
        client = Client(KEY, f"http://127.0.0.1:{listener.getsockname()[1]}")
        assert client.request("GET", "/v1/credits").data == {"plan": "free"}
        thread.join()


def test_redirect_is_no_download(
    upstream: ScriptedUpstream, client: Client, tmp_path: Path
) -> None:
    upstream.response = respond(b"Moved", status="302 Found", media_type="text/plain")
    with pytest.raises(EmailValidationError):
        client.lists.download("lst_1", tmp_path / "clean.csv")
    assert not list(tmp_path.iterdir())


def test_download_has_the_permissions_of_any_new_file(
    upstream: ScriptedUpstream, client: Client, tmp_path: Path
) -> None:
    upstream.response = respond(b"email\r\n", media_type="text/csv")
    target = client.lists.download("lst_1", tmp_path / "clean.csv")
    other = tmp_path / "other.csv"
    other.touch()
    assert target.stat().st_mode == other.stat().st_mode
    assert target.read_bytes() == b"email\r\n"


def test_wait_of_a_proxy_is_that_of_its_header(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.response = respond(status="429 Slow down", more="Retry-After: 60\r\n")
    with pytest.raises(RateLimitError) as caught:
        client.validate("jane@shop.example", timeout=2)
    assert caught.value.retry_after == 60


def test_waiting_asks_once_a_second_and_ends_in_time(
    upstream: ScriptedUpstream, client: Client
) -> None:
    upstream.response = respond(RUNNING)
    with pytest.raises(DeadlineExceeded):
        client.lists.wait("lst_1", timeout=0.9)
    assert len(upstream.requests) < 5


def test_long_poll_ends_before_its_try(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.response = respond(b'{"id":"lst_1","state":"completed"}')
    client.lists.wait("lst_1", until="completed", timeout=60)
    assert b"?wait=14 " in upstream.requests[0]


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.evil.example", "HTTP://api.example", "https://api.example:80x"),
        "https://jane:pass@api.example",
    ],
)
def test_url_that_would_leak_or_fail_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        Client(KEY, url)


def test_proxy_gets_its_password_and_must_keep_the_deadline(
    upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.response = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
    monkeypatch.setenv("https_proxy", f"http://jane:p%40ss@127.0.0.1:{upstream.port}")
    monkeypatch.setenv("no_proxy", "")
    check = Client(KEY, "https://api.example.com").sign_up_check("jane@shop.example", timeout=0.5)
    assert check.accept
    assert b"Proxy-Authorization: Basic amFuZTpwQHNz" in upstream.requests[0]


def test_host_with_many_silent_addresses_keeps_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ExitStack() as stack:
        # It accepts none, so that connections beyond its queue get no answer.
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        address = listener.getsockname()
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(address)
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address)] * 20
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: found)
        start = time.monotonic()
        check = Client(KEY, "http://localhost").sign_up_check("jane@shop.example", timeout=0.5)
        assert isinstance(check.failure, DeadlineExceeded)
        assert time.monotonic() - start < 5


def test_lookup_of_the_host_keeps_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over, lookups = threading.Event(), []

    def look_up(*address: object, **_options: object) -> list[object]:
        is_over.wait(20)
        lookups.append(address)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    check = Client(KEY, "http://localhost").sign_up_check("jane@shop.example", timeout=0.5)
    assert isinstance(check.failure, DeadlineExceeded)
    assert lookups == []
    is_over.set()


@pytest.mark.parametrize("error", [socket.gaierror(-2, "Unknown host"), UnicodeError("too long")])
def test_host_that_is_not_found_is_a_failed_connection(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def look_up(*_address: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    # An operation that isn't repeated.
    with pytest.raises(ConnectionFailed, match=re.escape(str(error))):
        Client(KEY, "http://localhost").request("POST", "/v1/webhooks", json={})


def test_failed_list_passes_between_processes() -> None:
    failed = ListFailed(AddressList.from_json({"id": "lst_1", "state": "failed"}))
    assert pickle.loads(pickle.dumps(failed)).list.id == "lst_1"  # noqa: S301


def test_timestamp_of_thousands_of_digits_is_no_signature() -> None:
    headers = {"webhook-id": "evt_1", "webhook-timestamp": "1" * 5_000, "webhook-signature": "v1,x"}
    with pytest.raises(webhooks.InvalidSignature):
        webhooks.verify(b"{}", headers, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


def test_asynchronous_client_survives_its_event_loop(upstream: ScriptedUpstream) -> None:
    upstream.response = respond(b"{}")
    client = AsyncClient(KEY, f"http://127.0.0.1:{upstream.port}")
    for _ in range(2):
        assert asyncio.run(client.sign_up_check("jane@shop.example", timeout=1)).accept
