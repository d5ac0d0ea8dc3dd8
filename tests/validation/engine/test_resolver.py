"""Servers that are slow, dead, wrong or hostile: each ends in an answer in time, and in no lie."""

import os
import resource
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import psutil
import pytest

from tests.servers.dns import (
    World,
    dns_server,
    packets,
    refused,
    servfail,
    silence,
    truncated,
    with_code,
)
from tests.validation.engine.conftest import SECONDS
from validation.engine.check import Engine
from validation.engine.dns.exchange import Exchange
from validation.engine.dns.messages import Outcome, Question
from validation.engine.dns.resolver import Resolver
from validation.engine.dns.servers import parse_server

pytestmark = pytest.mark.anywhere

EMAIL = "jane@shop.com"


def reason_of(engine: Engine, email: str = EMAIL) -> str:
    began = time.monotonic()
    reason = engine.check(email).reason
    assert time.monotonic() - began < SECONDS + 1
    return reason


def referral(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.authority.append(dns.rrset.from_text("com.", 60, "IN", "NS", "a.gtld-servers.net."))
    return message


def contradiction(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.set_rcode(dns.rcode.NXDOMAIN)
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "1 mx.shop.com."))
    return message


def of_another_name(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.question[0] = dns.rrset.from_text("evil.com.", 0, "IN", "MX")
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "0 ."))
    return message


def with_records_nobody_asked_for(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.answer.append(dns.rrset.from_text("other.com.", 60, "IN", "MX", "0 ."))
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "1 mx.shop.com."))
    message.additional.append(dns.rrset.from_text("mx.shop.com.", 60, "IN", "A", "10.0.0.1"))
    return message


def with_another_identifier(query: dns.message.Message) -> bytes:
    wire = bytearray(dns.message.make_response(query).to_wire())
    wire[0] ^= 0xFF
    return bytes(wire)


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (servfail, "dns_failure"),
        (refused, "dns_failure"),
        (with_code(dns.rcode.NOTIMP), "dns_failure"),
        (with_code(dns.rcode.FORMERR), "dns_failure"),
        (with_code(dns.rcode.YXDOMAIN), "dns_failure"),
        (with_code(dns.rcode.BADVERS), "dns_failure"),
        (referral, "dns_failure"),
        (contradiction, "dns_failure"),
        (silence, "dns_timeout"),
        (of_another_name, "dns_timeout"),
        (with_another_identifier, "dns_timeout"),
        (lambda query: b"", "dns_timeout"),
        (lambda query: b"\0" * 40, "dns_timeout"),
        (lambda query: query.to_wire(), "dns_timeout"),
        (lambda query: query.to_wire()[:2] + b"\x80\0" + b"\xff" * 600, "dns_timeout"),
        (truncated, "domain_accepts_mail"),
        (with_records_nobody_asked_for, "domain_accepts_mail"),
    ],
)
def test_an_answer_that_is_none_is_unknown(
    engine: Engine, world: World, behaviour: Callable[..., bytes], reason: str
) -> None:
    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", behaviour)
    assert reason_of(engine) == reason


def test_an_unknown_says_when_to_ask_again(engine: Engine, world: World) -> None:
    for name, behaviour, seconds in (("a.com", silence, 60), ("b.com", servfail, 300)):
        world.behaves(name, "MX", behaviour)
        document = engine.check(f"info@{name}").document()
        assert (document["retry_after_s"], document["score"]) == (seconds, None)
        assert (document["safe_to_send"], document["accept_for_signup"]) == (None, True)
        assert document["checks"]["role_account"] is True


def test_only_the_list_of_throw_away_domains_decides_when_the_dns_fails(
    engine: Engine, world: World
) -> None:
    world.behaves("mailinator.com", "MX", servfail)
    finding = engine.check("info@mailinator.com")
    assert finding.reasons == ("disposable", "role_account")


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


def test_without_a_server_at_work_the_answer_comes_at_once(world: World) -> None:
    began = time.monotonic()
    assert reason_of(Engine(Resolver(["127.0.0.1:9"], seconds=30))) == "dns_failure"
    assert time.monotonic() - began < 5


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


def test_a_truncated_answer_whose_stream_is_refused_is_a_failure(world: World) -> None:
    world.always = truncated
    with packets(lambda wire: [world.answer(wire) or b""]) as server:
        assert reason_of(Engine(Resolver([server], seconds=SECONDS))) == "dns_failure"


def test_an_alias_without_its_target_is_followed(engine: Engine, world: World) -> None:
    """As from a server that knows its own zones only."""

    def alias_alone(query: dns.message.Message) -> dns.message.Message:
        message = dns.message.make_response(query)
        message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "CNAME", "other.com."))
        return message

    world.takes_mail("other.com")
    world.behaves("shop.com", "MX", alias_alone)
    assert reason_of(engine) == "domain_accepts_mail"


def test_aliases_without_end_are_a_failure(engine: Engine, world: World) -> None:
    def next_alias(query: dns.message.Message) -> dns.message.Message:
        name = query.question[0].name
        message = dns.message.make_response(query)
        message.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", f"x{name}"))
        return message

    names = ["shop.com"]
    for _ in range(20):
        names.append(f"x{names[-1]}")
    for name in names:
        world.behaves(name, "MX", next_alias)
    assert reason_of(engine) == "dns_failure"
    assert sum(count for (_, kind), count in world.asked.items() if kind == "MX") <= 11


def test_a_flood_of_strange_packets_is_not_listened_to() -> None:
    def flood(wire: bytes) -> list[bytes]:
        return [wire[:2] + b"\x80\0" + b"\xff" * 100] * 500

    with packets(flood) as server:
        assert reason_of(Engine(Resolver([server], seconds=SECONDS))) == "dns_failure"


def test_a_server_that_floods_gives_way_to_the_next(world: World, server: str) -> None:
    world.takes_mail("shop.com")

    def flood(wire: bytes) -> list[bytes]:
        return [wire[:2] + b"\x80\0" + b"\xff" * 100] * 500

    with packets(flood) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


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


def test_a_stream_that_hangs_at_one_server_stops_none_at_the_next(world: World) -> None:
    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", truncated)
    with (
        packets(lambda wire: [truncated(dns.message.from_wire(wire)).to_wire()]) as hanging,
        socket.create_server(("127.0.0.1", int(hanging.rpartition(":")[2]))),
        dns_server(world) as good,
    ):
        engine = Engine(Resolver([hanging, good], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_many_streams_that_hang_stop_none_at_the_next_server(world: World) -> None:
    world.takes_mail("mail.shop.com")
    world.always = truncated
    with (
        packets(lambda wire: [truncated(dns.message.from_wire(wire)).to_wire()]) as hanging,
        socket.create_server(("127.0.0.1", int(hanging.rpartition(":")[2]))),
        dns_server(world) as good,
    ):
        engine = Engine(Resolver([hanging, good], seconds=SECONDS))
        assert reason_of(engine, "jane@mail.shop.com") == "domain_accepts_mail"


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
        )
        for question in questions:
            exchange.send(question)
    ended = [exchange.receive(time.monotonic() + 2) for _ in range(5)]
    exchange.close()
    assert sorted(one[0] for one in ended if one) == questions


def test_a_weak_answer_beside_a_flood_is_no_verdict() -> None:
    weak = World(always=dns.message.make_response)
    with (
        packets(lambda wire: [b"\xff" * 20] * 500) as flooding,
        dns_server(weak) as other,
    ):
        assert reason_of(Engine(Resolver([flooding, other], seconds=SECONDS))) == "dns_failure"


@pytest.mark.parametrize("other", [servfail, refused, silence])
@pytest.mark.parametrize("weak_first", [True, False])
def test_a_weak_answer_beside_a_failure_is_no_verdict(
    other: Callable[..., Any], weak_first: bool
) -> None:
    worlds = [World(always=dns.message.make_response), World(always=other)]
    with dns_server(worlds[not weak_first]) as one, dns_server(worlds[weak_first]) as two:
        reason = reason_of(Engine(Resolver([one, two], seconds=SECONDS)))
    assert reason in {"dns_failure", "dns_timeout"}


def test_a_name_that_a_weak_server_denies_is_asked_for_at_the_next(
    world: World, server: str
) -> None:
    world.takes_mail("shop.com")
    denies = World(always=with_code(dns.rcode.NXDOMAIN))
    with dns_server(denies) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_a_weak_answer_about_an_alias_is_none_about_its_target(world: World) -> None:
    def alias_then_trouble(query: dns.message.Message) -> Any:
        if query.question[0].name.to_text() != "shop.com.":
            return servfail(query)
        message = dns.message.make_response(query)
        message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "CNAME", "other.com."))
        return message

    weak, aliased = World(always=dns.message.make_response), World(always=alias_then_trouble)
    with dns_server(weak) as one, dns_server(aliased) as two:
        assert reason_of(Engine(Resolver([one, two], seconds=SECONDS))) == "dns_failure"


def test_a_chain_of_aliases_stays_with_the_server_that_answers(world: World) -> None:
    def next_alias(query: dns.message.Message) -> dns.message.Message:
        name = query.question[0].name.to_text(omit_final_dot=True)
        if name.startswith("x" * 8):
            return world.told(query, name, dns.rdatatype.to_text(query.question[0].rdtype))
        message = dns.message.make_response(query)
        message.answer.append(dns.rrset.from_text(f"{name}.", 60, "IN", "CNAME", f"x{name}."))
        return message

    world.takes_mail("xxxxxxxxshop.com")
    for hops in range(8):
        world.behaves("x" * hops + "shop.com", "MX", next_alias)
    with dns_server(world) as good, packets(lambda wire: []) as silent:
        engine = Engine(Resolver([good, silent], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_after_two_silent_servers_the_third_is_asked_first(world: World, server: str) -> None:
    world.takes_mail("shop.com")
    with packets(lambda wire: []) as one, packets(lambda wire: []) as two:
        engine = Engine(Resolver([one, two, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_an_old_server_is_asked_without_options(engine: Engine, world: World) -> None:
    def read_old(query: dns.message.Message) -> dns.message.Message:
        if query.edns >= 0:
            return with_code(dns.rcode.FORMERR)(query)  # type: ignore[return-value]
        name = query.question[0].name.to_text(omit_final_dot=True)
        return world.told(query, name, dns.rdatatype.to_text(query.question[0].rdtype))

    world.takes_mail("shop.com")
    world.always = read_old
    assert reason_of(engine) == "domain_accepts_mail"
    with packets(lambda wire: [world.answer(wire) or b""] * 2) as twice:
        assert reason_of(Engine(Resolver([twice], seconds=SECONDS))) == "domain_accepts_mail"


def test_a_server_that_neither_knows_nor_asks_gives_way(world: World, server: str) -> None:
    world.takes_mail("shop.com")
    empty = World(always=dns.message.make_response)
    with dns_server(empty) as first:
        engine = Engine(Resolver([first, server], seconds=SECONDS))
        assert reason_of(engine) == "domain_accepts_mail"


def test_an_alias_of_nothing_is_a_failure(engine: Engine, world: World) -> None:
    def to_the_root(query: dns.message.Message) -> dns.message.Message:
        message = dns.message.make_response(query)
        message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "CNAME", "."))
        return message

    world.behaves("shop.com", "MX", to_the_root)
    assert reason_of(engine) == "dns_failure"


def test_broken_data_in_an_answer_are_a_failure(engine: Engine, world: World) -> None:
    def cut(query: dns.message.Message) -> bytes:
        return world.told(query, "shop.com", "MX").to_wire()[:-4]

    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", cut)
    assert reason_of(engine) == "dns_failure"


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


def test_an_answer_that_waits_unread_counts_though_time_is_over(server: str) -> None:
    """A busy worker comes late to its own sockets."""
    resolver = Resolver([server], seconds=0.2)
    question = Question("nowhere.com", "MX")
    with resolver.inquiry(lambda name: name, time.monotonic() + 0.2) as inquiry:
        inquiry.ask(question)
        time.sleep(0.5)
        inquiry.wait([question])
    assert inquiry.answers[question].outcome is Outcome.NO_NAME


def test_case_does_not_matter_in_what_a_server_repeats(engine: Engine, world: World) -> None:
    def shout(query: dns.message.Message) -> bytes:
        wire = world.told(query, "shop.com", "MX").to_wire()
        return wire.replace(b"\x04shop\x03com", b"\x04SHOP\x03COM", 1)

    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", shout)
    assert reason_of(engine) == "domain_accepts_mail"


def test_negative_answers_need_no_soa_record(engine: Engine, world: World) -> None:
    world.has_soa = False
    world.has("shop.com", A="8.8.8.8")
    assert reason_of(engine) == "no_mx_record"
    assert reason_of(engine, "jane@nowhere.com") == "domain_not_found"


def test_a_process_without_descriptors_left_gives_no_verdict(engine: Engine, world: World) -> None:
    """One socket can still be made, and none for a stream."""
    world.always = truncated
    next_one = os.dup(0)
    os.close(next_one)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_one + 1, hard))
    try:
        reason = engine.check(EMAIL).reason
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert reason == "dns_failure"


# An audit hook stays for ever; what it hears matters only while a test collects it.
_connections: list[Any] = []
sys.addaudithook(
    lambda event, arguments: (
        _connections.append(arguments[1]) if event == "socket.connect" else None
    )
)


def test_nobody_but_the_resolvers_is_connected_to(engine: Engine, world: World) -> None:
    world.has("shop.com", MX=["1 a.shop.com.", "2 127.0.0.1."], A="127.0.0.1")
    world.has("a.shop.com", A=["8.8.8.8", "127.0.0.1", "169.254.169.254"], AAAA="::1")
    world.has("own.com", A="127.0.0.1")
    world.behaves("shop.com", "TXT", truncated)
    _connections.clear()
    for name in ("shop.com", "own.com"):
        engine.check(f"jane@{name}")
    assert set(_connections) == {server.address for server in engine.resolver.servers}


def test_every_socket_is_closed(engine: Engine, world: World) -> None:
    process = psutil.Process()
    world.behaves("silent.com", "MX", servfail)
    before = len(process.net_connections("udp"))
    for name in ("silent.com", "nowhere.com", "a.com"):
        engine.check(f"jane@{name}")
    assert len(process.net_connections("udp")) == before


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
