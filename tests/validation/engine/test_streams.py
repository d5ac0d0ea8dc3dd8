"""Answers too large for a packet are asked for over TCP, where a server may hang or not listen."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import dns.message
import pytest

from tests.servers.dns import World, dns_server, packets, truncated
from tests.validation.engine.conftest import EMAIL, SECONDS, reason_of
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere


@contextmanager
def hanging_streams() -> Iterator[str]:
    """A server that leads to TCP whoever asks it, and says nothing there."""
    with (
        packets(lambda wire: [truncated(dns.message.from_wire(wire)).to_wire()]) as address,
        socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))),
    ):
        yield address


def test_a_truncated_answer_whose_stream_is_refused_is_a_failure(world: World) -> None:
    world.always = truncated
    with packets(lambda wire: [world.answer(wire) or b""]) as server:
        assert reason_of(Engine(Resolver([server], seconds=SECONDS))) == "dns_failure"


def test_a_stream_that_hangs_at_one_server_stops_none_at_the_next(world: World) -> None:
    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", truncated)
    with hanging_streams() as hanging, dns_server(world) as good:
        engine = Engine(Resolver([hanging, good], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_many_streams_that_hang_stop_none_at_the_next_server(world: World) -> None:
    world.takes_mail("mail.shop.com")
    world.always = truncated
    with hanging_streams() as hanging, dns_server(world) as good:
        engine = Engine(Resolver([hanging, good], seconds=SECONDS))
        assert reason_of(engine, "jane@mail.shop.com") == "domain_accepts_mail"


def test_a_stream_that_hangs_holds_up_no_other_question(world: World) -> None:
    """Truncated policies, and a server whose TCP port says nothing."""
    world.takes_mail("shop.com")
    for name in ("shop.com", "_dmarc.shop.com"):
        world.behaves(name, "TXT", truncated)
    with packets(lambda wire: [world.answer(wire) or b""]) as server:
        port = int(server.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)):
            finding = Engine(Resolver([server], seconds=SECONDS)).check(EMAIL)
    assert finding.reason == "domain_accepts_mail"
    assert finding.route.spf is None
