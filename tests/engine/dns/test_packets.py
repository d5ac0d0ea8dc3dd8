"""Packets that are lost, late, duplicated or far too many."""

import time
from collections.abc import Callable
from typing import Any

import dns.message
import pytest

from engine.check import Engine
from engine.dns.messages import Outcome, Query
from engine.dns.resolver import Resolver
from tests.engine.conftest import SECONDS, get_reason
from tests.servers.dns import FakeDns, packet_server, servfail, silence, truncated


def flood(wire: bytes) -> list[bytes]:
    return [wire[:2] + b"\x80\0" + b"\xff" * 100] * 500


def test_lost_packet_is_sent_again(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    queries = 0

    def lose_first_packet(query: dns.message.Message) -> dns.message.Message | None:
        nonlocal queries
        queries += 1
        return None if queries == 1 else fake_dns.build_reply(query, "shop.com", "MX")

    fake_dns.set_behavior("shop.com", "MX", lose_first_packet)
    assert get_reason(engine) == "domain_accepts_mail"


def test_silent_server_gets_a_bounded_number_of_queries(engine: Engine, fake_dns: FakeDns) -> None:
    for record_type in ("MX", "TXT"):
        fake_dns.set_behavior("shop.com", record_type, silence)
    assert get_reason(engine) == "dns_timeout"
    assert max(fake_dns.queries.values()) <= 3


def test_reply_that_arrived_in_time_counts_when_read_late(server: str) -> None:
    """A busy worker may be late to read its sockets."""
    resolver = Resolver([server], seconds=0.2)
    query = Query("nowhere.com", "MX")
    with resolver.start_lookup(lambda name: name, time.monotonic() + 0.2) as lookup:
        lookup.send(query)
        time.sleep(0.5)
        lookup.wait([query])
    assert lookup.replies[query].outcome is Outcome.NXDOMAIN


def test_flood_of_stray_packets_is_a_failure() -> None:
    with packet_server(flood) as server:
        assert get_reason(Engine(Resolver([server], seconds=SECONDS))) == "dns_failure"


def test_flooding_server_is_replaced_by_the_next(fake_dns: FakeDns, server: str) -> None:
    fake_dns.add_mail_domain("shop.com")

    with packet_server(flood) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert get_reason(engine) == "domain_accepts_mail"


def test_duplicate_replies_are_accepted(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    with packet_server(lambda wire: [fake_dns.answer(wire) or b""] * 30) as server:
        engine = Engine(Resolver([server], seconds=SECONDS))
        assert get_reason(engine) == "domain_accepts_mail"


@pytest.mark.parametrize("behavior", [servfail, truncated, dns.message.make_response])
def test_endlessly_repeated_reply_counts_once(behavior: Callable[..., Any]) -> None:
    """One server repeats its reply endlessly; the other is silent."""
    repeated = FakeDns(default_behavior=behavior)
    queries = []

    def listen(wire: bytes) -> list[bytes]:
        queries.append(wire)
        return []

    with (
        packet_server(lambda wire: [repeated.answer(wire) or b""] * 2_000) as loud,
        packet_server(listen) as quiet,
    ):
        assert get_reason(Engine(Resolver([loud, quiet], seconds=SECONDS))) == "dns_timeout"
    assert len(queries) <= 12
