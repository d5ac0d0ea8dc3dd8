"""Replies too large for UDP are fetched over TCP, where a server may hang or refuse."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import dns.message

from engine.check import Engine
from engine.dns.resolver import Resolver
from tests.engine.conftest import EMAIL, SECONDS, get_reason
from tests.servers.dns import FakeDns, dns_server, packet_server, truncated


@contextmanager
def hanging_streams() -> Iterator[str]:
    """Run a server that truncates its UDP replies and sends nothing over TCP connections."""
    with (
        packet_server(lambda wire: [truncated(dns.message.from_wire(wire)).to_wire()]) as address,
        socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))),
    ):
        yield address


def test_truncated_reply_with_refused_tcp_is_a_failure(fake_dns: FakeDns) -> None:
    fake_dns.default_behavior = truncated
    with packet_server(lambda wire: [fake_dns.answer(wire) or b""]) as server:
        assert get_reason(Engine(Resolver([server], seconds=SECONDS))) == "dns_failure"


def test_many_hanging_streams_do_not_block_the_next_server(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("mail.shop.com")
    fake_dns.default_behavior = truncated
    with hanging_streams() as hanging, dns_server(fake_dns) as good:
        engine = Engine(Resolver([hanging, good], seconds=SECONDS))
        assert get_reason(engine, "jane@mail.shop.com") == "domain_accepts_mail"


def test_hanging_stream_does_not_delay_other_queries(fake_dns: FakeDns) -> None:
    """The policies are truncated, and the server's TCP port sends nothing."""
    fake_dns.add_mail_domain("shop.com")
    for name in ("shop.com", "_dmarc.shop.com"):
        fake_dns.set_behavior(name, "TXT", truncated)
    with packet_server(lambda wire: [fake_dns.answer(wire) or b""]) as server:
        port = int(server.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)):
            finding = Engine(Resolver([server], seconds=SECONDS)).check(EMAIL)
    assert finding.reason == "domain_accepts_mail"
    assert finding.route.spf is None
