"""Servers that are slow, unreachable or lame are replaced by others."""

import time
from collections.abc import Callable
from typing import Any

import dns.message
import dns.rcode
import pytest

from engine.check import Engine
from engine.dns.budget import MessageBudget
from engine.dns.messages import Outcome, Query
from engine.dns.resolver import Resolver
from engine.dns.transport.edns import EdnsMemory
from engine.dns.transport.exchange import Exchange
from engine.dns.transport.servers import parse_server
from tests.engine.conftest import SECONDS, get_reason
from tests.servers.dns import (
    FakeDns,
    dns_server,
    packet_server,
    refused,
    reply_with_code,
    servfail,
    silence,
)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1", "127.0.0.1", 53),
        ("127.0.0.1:5353", "127.0.0.1", 5353),
        ("::1", "::1", 53),
        ("[::1]", "::1", 53),
        ("[::1]:5353", "::1", 5353),
    ],
)
def test_server_address_is_parsed(text: str, host: str, port: int) -> None:
    assert parse_server(text) == (host, port)


@pytest.mark.parametrize(
    "behavior", [servfail, dns.message.make_response, reply_with_code(dns.rcode.NXDOMAIN)]
)
def test_next_server_is_queried_when_one_fails_or_is_lame(
    fake_dns: FakeDns, server: str, behavior: Callable[..., Any]
) -> None:
    fake_dns.add_mail_domain("shop.com")
    with dns_server(FakeDns(default_behavior=behavior)) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert get_reason(engine) == "domain_accepts_mail"


def test_next_server_is_queried_when_others_are_closed_or_silent(
    fake_dns: FakeDns, server: str
) -> None:
    fake_dns.add_mail_domain("shop.com")
    engine = Engine(Resolver(["127.0.0.1:9", server], seconds=SECONDS))
    assert get_reason(engine) == "domain_accepts_mail"
    with packet_server(lambda wire: []) as first, packet_server(lambda wire: []) as second:
        engine = Engine(Resolver([first, second, server], seconds=SECONDS))
        assert get_reason(engine) == "domain_accepts_mail"


def test_server_that_timed_out_is_queried_last(fake_dns: FakeDns, server: str) -> None:
    for name in ("shop.com", "other.com"):
        fake_dns.add_mail_domain(name)
    received: list[bytes] = []

    def keep(wire: bytes) -> list[bytes]:
        received.append(wire)
        return []

    with packet_server(keep) as silent:
        engine = Engine(Resolver([silent, server], seconds=SECONDS))
        assert get_reason(engine) == "domain_accepts_mail"
        assert received
        received.clear()
        assert get_reason(engine, "jane@other.com") == "domain_accepts_mail"
        assert not any(b"other" in wire for wire in received)


def test_check_with_unreachable_servers_fails_immediately(fake_dns: FakeDns) -> None:
    started = time.monotonic()
    assert get_reason(Engine(Resolver(["127.0.0.1:9"], seconds=30))) == "dns_failure"
    assert time.monotonic() - started < 5


def test_every_query_to_an_unreachable_server_fails_immediately() -> None:
    resolver = Resolver(["127.0.0.1:9"], seconds=10)
    queries = [Query(f"{number}.com", "MX") for number in range(40)]
    started = time.monotonic()
    with resolver.start_lookup(lambda name: name, started + 10) as lookup:
        lookup.send(*queries)
        lookup.wait(queries)
    assert {lookup.replies[query].outcome for query in queries} == {Outcome.FAILURE}
    assert time.monotonic() - started < 5


def test_each_query_finishes_once_when_its_server_becomes_unreachable() -> None:
    """The server listens for the first packets, and is gone when they are sent again."""
    queries = [Query(f"{number}.com", "MX") for number in range(4)]
    with packet_server(lambda wire: []) as address:
        server = parse_server(address)
        exchange = Exchange(
            [server],
            edns_memory=EdnsMemory(time.monotonic),
            seconds=1,
            deadline=time.monotonic() + 1,
            clock=time.monotonic,
            on_timeout=lambda server: None,
            on_lag=lambda: None,
            budget=MessageBudget(),
        )
        for query in queries:
            exchange.send(query)
    finished = [exchange.receive(time.monotonic() + 2) for _ in range(5)]
    exchange.close()
    assert sorted(event[0] for event in finished if event) == queries


@pytest.mark.parametrize("other", [servfail, refused, silence])
@pytest.mark.parametrize("lame_first", [True, False])
def test_lame_reply_and_a_failing_server_give_no_verdict(
    other: Callable[..., Any], lame_first: bool
) -> None:
    servers = [FakeDns(default_behavior=dns.message.make_response), FakeDns(default_behavior=other)]
    with dns_server(servers[not lame_first]) as first, dns_server(servers[lame_first]) as second:
        reason = get_reason(Engine(Resolver([first, second], seconds=SECONDS)))
    assert reason in {"dns_failure", "dns_timeout"}
