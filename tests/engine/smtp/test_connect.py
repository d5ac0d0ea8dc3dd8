"""Mail servers are connected to at checked addresses only."""

import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from engine.smtp.connect import MailTarget, connect_directly, find_targets, probe_host
from engine.smtp.wire import SmtpOutcome
from tests.engine.smtp.asking import PATIENT, probe, question
from tests.servers.gevent_process import run_patched
from tests.servers.public_addresses import PUBLIC_ADDRESSES, SPECIAL_ADDRESSES
from tests.servers.smtp_server import DROP, SmtpHost, SmtpServer, one_byte_at_a_time, smtp_server

# Linux connects to 127.0.0.1 instead.
ANY = "0.0.0.0"  # noqa: S104

pytestmark = pytest.mark.allow_hosts(["127.0.0.0/8", "::1", ANY])

FIRST, SECOND = MailTarget("mx1.shop.example", "127.0.5.1"), MailTarget("mx2.shop.example", "::1")


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    with smtp_server({FIRST.address: SmtpHost(), SECOND.address: SmtpHost()}) as server:
        yield server


def test_two_addresses_of_two_hosts_are_tried_and_each_host_is_resolved_once() -> None:
    resolved: list[str] = []
    addresses = {
        "mx1.shop.example": frozenset(("1.0.0.3", "2a00::1", "1.0.0.2", "1.0.0.1")),
        "unknown.shop.example": None,
        "mx6.shop.example": frozenset(("2a00::1",)),
    }

    def find_addresses(host: str) -> frozenset[str] | None:
        resolved.append(host)
        return addresses.get(host, frozenset())

    targets = find_targets(["mx1.shop.example", "mx6.shop.example", "mx3.example"], find_addresses)
    assert [next(targets).address for _ in range(2)] == ["1.0.0.1", "1.0.0.2"]
    assert resolved == ["mx1.shop.example"]
    assert list(targets) == [MailTarget("mx6.shop.example", "2a00::1")]
    assert resolved == ["mx1.shop.example", "mx6.shop.example"]
    assert list(find_targets(["unknown.shop.example", "none.example"], find_addresses)) == []


def test_only_public_addresses_are_targets(server: SmtpServer) -> None:
    targets = find_targets(["mx.example"], lambda host: frozenset(SPECIAL_ADDRESSES))
    assert list(targets) == []
    for address in PUBLIC_ADDRESSES:
        mixed = frozenset((address, "127.0.0.1", "fd00::1"))
        found = find_targets(["mx.example"], lambda host, mixed=mixed: mixed)  # type: ignore[misc]
        assert [target.address for target in found] == [address]
    # Nor are they connected to if a caller names them.
    answer = probe_host([FIRST, SECOND], question(), port=server.port)
    assert (answer.conversation.outcome, answer.target) == (SmtpOutcome.NO_ADDRESS, None)
    assert not server.connections


def test_address_that_is_no_longer_allowed_is_not_connected_to(server: SmtpServer) -> None:
    allowed = {FIRST.address}
    targets = list(
        find_targets(
            ["mx.example"], lambda host: frozenset(allowed), is_allowed=allowed.__contains__
        )
    )
    allowed.clear()
    answer = probe_host(
        targets, question(), is_allowed=allowed.__contains__, port=server.port, limits=PATIENT
    )
    assert answer.conversation.outcome == SmtpOutcome.NO_ADDRESS
    assert not server.connections


def test_connection_that_ends_elsewhere_is_closed() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(PermissionError, match="another address"),
    ):
        connect_directly(ANY, listener.getsockname()[1], 30)


def test_name_is_never_resolved() -> None:
    with pytest.raises(ValueError, match="localhost"):
        connect_directly("localhost", 25, 30)


def test_next_address_is_tried_if_the_first_does_not_greet(server: SmtpServer) -> None:
    refused = MailTarget("mx0.shop.example", "127.0.5.9")
    answer = probe(server, refused, SECOND)
    assert (answer.target, answer.conversation.reply) == (SECOND, b"250 2.1.5 OK")
    server.hosts[FIRST.address] = SmtpHost(banner=DROP)
    assert probe(server, FIRST, SECOND).target == SECOND
    server.hosts[FIRST.address] = SmtpHost(banner="521 No mail")
    targets = iter((FIRST, SECOND))
    answer = probe(server, *targets)
    assert (answer.target, answer.conversation.reply) == (FIRST, b"521 No mail")
    answer = probe(server, refused)
    assert answer.conversation.outcome == SmtpOutcome.UNREACHABLE
    assert answer.conversation.stage == "connect"


def test_remaining_targets_are_those_after_the_one_that_greeted(server: SmtpServer) -> None:
    targets = iter((FIRST, SECOND))
    ask = partial(
        probe_host, question=question(), port=server.port, is_allowed=lambda address: True
    )
    assert [ask(targets).target for _ in range(3)] == [FIRST, SECOND, None]


def test_probe_that_is_out_of_time_tries_no_further_address(server: SmtpServer) -> None:
    server.hosts[FIRST.address] = SmtpHost(banner=(3600.0,))
    answer = probe(server, FIRST, SECOND, limits=PATIENT._replace(probe=0.2))
    assert answer.conversation.outcome == SmtpOutcome.TIMED_OUT
    assert SECOND.address not in server.connections


def test_local_address_is_used() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        connect_directly("127.0.0.1", listener.getsockname()[1], 30, source="127.0.7.7") as sock,
    ):
        connection, peer = listener.accept()
        connection.close()
        assert sock.getsockname()[0] == peer[0] == "127.0.7.7"
    # An IPv4 address can't connect to an IPv6 one.
    with pytest.raises(OSError, match=r"."):
        connect_directly("::1", 25, 30, source="127.0.7.7")


@pytest.mark.process
def test_patched_sockets_converse_in_greenlets(tmp_path: Path) -> None:
    """Trickling bytes extend no deadline, not even that of a TLS handshake."""
    tls = ("STARTTLS",)
    trickle = one_byte_at_a_time("\x16\x03\x03 " * 1000, 0.1)
    hosts = {
        "127.0.0.1": SmtpHost(extensions=tls),
        "127.0.0.2": SmtpHost(extensions=tls, instead_of_tls=trickle),
        "127.0.0.3": SmtpHost(other=trickle, mailboxes={}),
    }
    with smtp_server(hosts) as server:
        (tmp_path / "port").write_text(str(server.port))
        output = run_patched("tests.engine.smtp.gevent_probes", tmp_path)
    assert output.splitlines() == [
        *["replied rcpt True"] * 20,
        "replied rcpt False",
        "timed_out rcpt False",
    ]
