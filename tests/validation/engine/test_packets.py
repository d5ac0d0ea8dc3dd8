"""Packets that are lost, late, repeated or far too many."""

import time
from collections.abc import Callable
from typing import Any

import dns.message
import pytest

from tests.servers.dns import World, dns_server, packets, servfail, silence, truncated
from tests.validation.engine.conftest import SECONDS, reason_of
from validation.engine.check import Engine
from validation.engine.dns.messages import Outcome, Question
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere


def flood(wire: bytes) -> list[bytes]:
    return [wire[:2] + b"\x80\0" + b"\xff" * 100] * 500


def test_a_lost_packet_is_sent_again(engine: Engine, world: World) -> None:
    world.takes_mail("shop.com")
    lost: list[str] = []

    def lose_the_first(query: dns.message.Message) -> dns.message.Message | None:
        lost.append("")
        return None if len(lost) == 1 else world.told(query, "shop.com", "MX")

    world.behaves("shop.com", "MX", lose_the_first)
    assert reason_of(engine) == "domain_accepts_mail"


def test_silence_is_not_asked_without_end(engine: Engine, world: World) -> None:
    for kind in ("MX", "TXT"):
        world.behaves("shop.com", kind, silence)
    assert reason_of(engine) == "dns_timeout"
    assert max(world.asked.values()) <= 3


def test_an_answer_that_waits_unread_counts_though_time_is_over(server: str) -> None:
    """A busy worker comes late to its own sockets."""
    resolver = Resolver([server], seconds=0.2)
    question = Question("nowhere.com", "MX")
    with resolver.inquiry(lambda name: name, time.monotonic() + 0.2) as inquiry:
        inquiry.ask(question)
        time.sleep(0.5)
        inquiry.wait([question])
    assert inquiry.answers[question].outcome is Outcome.NO_NAME


def test_a_flood_of_strange_packets_is_not_listened_to() -> None:
    with packets(flood) as server:
        assert reason_of(Engine(Resolver([server], seconds=SECONDS))) == "dns_failure"


def test_a_server_that_floods_gives_way_to_the_next(world: World, server: str) -> None:
    world.takes_mail("shop.com")

    with packets(flood) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_a_weak_answer_beside_a_flood_is_no_verdict() -> None:
    weak = World(always=dns.message.make_response)
    with (
        packets(lambda wire: [b"\xff" * 20] * 500) as flooding,
        dns_server(weak) as other,
    ):
        assert reason_of(Engine(Resolver([flooding, other], seconds=SECONDS))) == "dns_failure"


def test_answers_that_come_many_times_are_answers(world: World) -> None:
    world.takes_mail("shop.com")
    with packets(lambda wire: [world.answer(wire) or b""] * 30) as server:
        engine = Engine(Resolver([server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


@pytest.mark.parametrize("behaviour", [servfail, truncated, dns.message.make_response])
def test_the_same_answer_without_end_counts_once(behaviour: Callable[..., Any]) -> None:
    """Of two servers one says it again and again, the other nothing."""
    said = World(always=behaviour)
    asked = []

    def listen(wire: bytes) -> list[bytes]:
        asked.append(wire)
        return []

    with (
        packets(lambda wire: [said.answer(wire) or b""] * 2_000) as loud,
        packets(listen) as quiet,
    ):
        assert reason_of(Engine(Resolver([loud, quiet], seconds=SECONDS))) == "dns_timeout"
    assert len(asked) <= 12
