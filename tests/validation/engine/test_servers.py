"""Several servers, of which some are slow, dead or know nothing: the others are asked."""

import time
from collections.abc import Callable
from typing import Any

import dns.message
import dns.rcode
import pytest

from tests.servers.dns import World, dns_server, packets, refused, servfail, silence, with_code
from tests.validation.engine.conftest import SECONDS, reason_of
from validation.engine.check import Engine
from validation.engine.dns.budget import MessageBudget
from validation.engine.dns.messages import Outcome, Question
from validation.engine.dns.resolver import Resolver
from validation.engine.dns.transport.exchange import Exchange
from validation.engine.dns.transport.servers import parse_server

pytestmark = pytest.mark.anywhere


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
def test_how_a_server_is_written(text: str, host: str, port: int) -> None:
    assert parse_server(text) == (host, port)


def test_the_next_server_is_asked_when_one_fails(world: World, server: str) -> None:
    world.takes_mail("shop.com")
    broken = World(always=servfail)
    with dns_server(broken) as first:
        assert (
            reason_of(Engine(Resolver([first, server], seconds=SECONDS))) == "domain_accepts_mail"
        )


def test_the_next_server_is_asked_when_nobody_listens(world: World, server: str) -> None:
    world.takes_mail("shop.com")
    engine = Engine(Resolver(["127.0.0.1:9", server], seconds=SECONDS))
    assert reason_of(engine) == "domain_accepts_mail"


def test_a_server_that_was_silent_is_asked_after_the_others(world: World, server: str) -> None:
    for name in ("shop.com", "other.com"):
        world.takes_mail(name)
    with packets(lambda wire: []) as silent:
        engine = Engine(Resolver([silent, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"
        began = time.monotonic()
        assert reason_of(engine, "jane@other.com") == "domain_accepts_mail"
        assert time.monotonic() - began < SECONDS / 6


def test_after_two_silent_servers_the_third_is_asked_first(world: World, server: str) -> None:
    world.takes_mail("shop.com")
    with packets(lambda wire: []) as one, packets(lambda wire: []) as two:
        engine = Engine(Resolver([one, two, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_without_a_server_at_work_the_answer_comes_at_once(world: World) -> None:
    began = time.monotonic()
    assert reason_of(Engine(Resolver(["127.0.0.1:9"], seconds=30))) == "dns_failure"
    assert time.monotonic() - began < 5


def test_every_question_at_a_server_that_is_gone_fails_at_once() -> None:
    resolver = Resolver(["127.0.0.1:9"], seconds=10)
    questions = [Question(f"{number}.com", "MX") for number in range(40)]
    began = time.monotonic()
    with resolver.inquiry(lambda name: name, began + 10) as inquiry:
        inquiry.ask(*questions)
        inquiry.wait(questions)
    assert {inquiry.answers[one].outcome for one in questions} == {Outcome.FAILURE}
    assert time.monotonic() - began < 5


def test_a_question_ends_once_though_many_learn_that_its_server_is_gone() -> None:
    """It was there when they were asked first, and is not when they are asked again."""
    questions = [Question(f"{number}.com", "MX") for number in range(4)]
    with packets(lambda wire: []) as address:
        server = parse_server(address)
        exchange = Exchange(
            [server],
            seconds=1,
            deadline=time.monotonic() + 1,
            clock=time.monotonic,
            is_silent=lambda server: None,
            budget=MessageBudget(),
        )
        for question in questions:
            exchange.send(question)
    ended = [exchange.receive(time.monotonic() + 2) for _ in range(5)]
    exchange.close()
    assert sorted(one[0] for one in ended if one) == questions


def test_a_server_that_neither_knows_nor_asks_gives_way(world: World, server: str) -> None:
    world.takes_mail("shop.com")
    empty = World(always=dns.message.make_response)
    with dns_server(empty) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_a_name_that_a_weak_server_denies_is_asked_for_at_the_next(
    world: World, server: str
) -> None:
    world.takes_mail("shop.com")
    denies = World(always=with_code(dns.rcode.NXDOMAIN))
    with dns_server(denies) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


@pytest.mark.parametrize("other", [servfail, refused, silence])
@pytest.mark.parametrize("weak_first", [True, False])
def test_a_weak_answer_beside_a_failure_is_no_verdict(
    other: Callable[..., Any], weak_first: bool
) -> None:
    worlds = [World(always=dns.message.make_response), World(always=other)]
    with dns_server(worlds[not weak_first]) as one, dns_server(worlds[weak_first]) as two:
        reason = reason_of(Engine(Resolver([one, two], seconds=SECONDS)))
    assert reason in {"dns_failure", "dns_timeout"}
