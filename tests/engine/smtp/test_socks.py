"""A SOCKS5 proxy connects to the checked address, and can't hang or flood a probe."""

from collections.abc import Iterator

import pytest

from engine.smtp.connect import HostAnswer, MailTarget, probe_host
from engine.smtp.socks import ProxyFailed, SocksProxy
from engine.smtp.wire import SmtpOutcome
from tests.engine.smtp.asking import PATIENT, question
from tests.servers import socks_proxy as servers
from tests.servers.smtp_server import SmtpHost, SmtpServer, smtp_server
from tests.servers.socks_proxy import socks_proxy

IPV4, IPV6 = "193.0.0.1", "2a00::1"


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    with smtp_server({"127.0.0.1": SmtpHost(extensions=("STARTTLS",))}) as server:
        yield server


@pytest.fixture
def proxy() -> Iterator[servers.SocksProxy]:
    with socks_proxy() as proxy:
        proxy.redirects = {IPV4: "127.0.0.1", IPV6: "127.0.0.1"}
        yield proxy


def probe(url: str, port: int = 25, address: str = IPV4, connect: float = 30) -> HostAnswer:
    return probe_host(
        [MailTarget("mx.shop.example", address), MailTarget("mx.shop.example", IPV6)],
        question(),
        dial=SocksProxy(url).connect,
        port=port,
        limits=PATIENT._replace(connect=connect),
    )


@pytest.mark.parametrize("bound", [b"\1" + bytes(6), b"\4" + bytes(18), b"\3\5proxy\0\0"])
@pytest.mark.parametrize("address", [IPV4, IPV6])
def test_proxy_gets_the_literal_address(
    server: SmtpServer, proxy: servers.SocksProxy, address: str, bound: bytes
) -> None:
    """The replies' own address isn't taken for the banner, whatever its type."""
    proxy.bound = bound
    conversation = probe(proxy.url(), server.port, address).conversation
    assert (conversation.reply, conversation.is_encrypted) == (b"250 2.1.5 OK", True)
    assert proxy.targets == [(address, server.port)]


def test_proxy_is_not_asked_for_an_inner_address(
    server: SmtpServer, proxy: servers.SocksProxy
) -> None:
    answer = probe_host(
        [MailTarget("mx.shop.example", "127.0.0.1")],
        question(),
        dial=SocksProxy(proxy.url()).connect,
        port=server.port,
    )
    assert answer.conversation.outcome == SmtpOutcome.NO_ADDRESS
    assert proxy.targets == []


@pytest.mark.parametrize(
    ("code", "outcome", "tried"),
    [
        *((code, SmtpOutcome.UNREACHABLE, [IPV4, IPV6]) for code in (3, 4, 5, 6)),
        *((code, SmtpOutcome.PROXY_FAILED, [IPV4]) for code in (1, 2, 7, 8, 9, 255)),
    ],
)
def test_refusal_is_about_the_server_or_about_the_proxy(
    proxy: servers.SocksProxy, code: int, outcome: SmtpOutcome, tried: list[str]
) -> None:
    """A proxy that fails is not asked for the next address."""
    proxy.code = code
    assert probe(proxy.url()).conversation.outcome == outcome
    assert [address for address, _ in proxy.targets] == tried


def test_wrong_password_fails_the_proxy(proxy: servers.SocksProxy) -> None:
    wrong = (proxy.url(password="wrong"), proxy.url(user="wrong"), f"socks5://{proxy.address}")
    for url in (*wrong, "socks5://127.0.0.1:1"):
        assert probe(url).conversation.outcome == SmtpOutcome.PROXY_FAILED
    assert proxy.targets == []


SIGNED_IN = (b"\5\2", b"\1\0")


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([b"\4\2"], SmtpOutcome.PROXY_FAILED),
        ([b"\5\xff"], SmtpOutcome.PROXY_FAILED),
        ([b"\5\0"], SmtpOutcome.PROXY_FAILED),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], SmtpOutcome.PROXY_FAILED),
        ([b"\5\2", b"\1\1"], SmtpOutcome.PROXY_FAILED),
        ([*SIGNED_IN, b"\4\0\0\1" + bytes(6)], SmtpOutcome.PROXY_FAILED),
        ([*SIGNED_IN, b"\5\0\0\2" + bytes(6)], SmtpOutcome.PROXY_FAILED),
        # Silence.
        ([], SmtpOutcome.PROXY_FAILED),
        ([b"\5"], SmtpOutcome.PROXY_FAILED),
        ([b"\5\2", b"\1"], SmtpOutcome.PROXY_FAILED),
        # The rest is taken for the server's banner.
        ([*SIGNED_IN, b"\5\0\0\1" + bytes(6) + b"220-x\r\n" * 100_000], SmtpOutcome.TOO_LONG),
        ([*SIGNED_IN, b"\5\0\0\3\xff" + b"x" * 1_000_000], SmtpOutcome.TOO_LONG),
    ],
)
def test_malformed_endless_or_missing_replies_end_the_probe(
    proxy: servers.SocksProxy, script: list[bytes], outcome: SmtpOutcome
) -> None:
    proxy.script = script
    seconds = 0.3 if sum(map(len, script)) < 4 else 30
    assert probe(proxy.url(), connect=seconds).conversation.outcome == outcome


def test_bytes_of_a_proxy_that_trickle_do_not_extend_the_deadline(
    proxy: servers.SocksProxy,
) -> None:
    proxy.script, proxy.trickles = [*SIGNED_IN, b"\5\0\0\3\xff" + b"x" * 257], 0.05
    with pytest.raises((TimeoutError, ProxyFailed)):
        SocksProxy(proxy.url()).connect(IPV4, 25, 1)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:1080", "socks5h://127.0.0.1:1080", "socks5://"),
        *("socks5://127.0.0.1:99999", f"socks5://{'u' * 256}:p@127.0.0.1"),
    ],
)
def test_url_of_a_proxy_is_checked(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        SocksProxy(url)
