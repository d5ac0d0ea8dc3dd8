"""Answers that were not asked for: with another id, to another question, from somebody else."""

import socket
from collections.abc import Callable
from itertools import pairwise

import dns.flags
import dns.message
import dns.rrset
import psutil
import pytest

from tests.servers.dns import World, packets
from tests.validation.engine.conftest import EMAIL, SECONDS, reason_of
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere


def lie(query: dns.message.Message, name: str = "") -> dns.message.Message:
    """That the name takes no mail at all: what a liar would have us believe."""
    message = dns.message.make_response(query)
    message.flags |= dns.flags.RA
    name = name or query.question[0].name.to_text()
    message.answer.append(dns.rrset.from_text(name, 300, "IN", "MX", "0 ."))
    return message


def of_another_id(wire: bytes) -> list[bytes]:
    number = int.from_bytes(wire[:2], "big")
    told = lie(dns.message.from_wire(wire)).to_wire()
    return [(number + step & 0xFFFF).to_bytes(2, "big") + told[2:] for step in (1, -1, 256)]


def of_another_question(wire: bytes) -> list[bytes]:
    query = dns.message.from_wire(wire)
    other = dns.message.make_query("other.com.", "MX", id=query.id)
    return [lie(other).to_wire()]


def of_another_kind(wire: bytes) -> list[bytes]:
    query = dns.message.from_wire(wire)
    other = dns.message.make_query(query.question[0].name, "NS", id=query.id)
    return [lie(other).to_wire()]


def no_answer_at_all(wire: bytes) -> list[bytes]:
    return [wire]


@pytest.mark.parametrize(
    "forge", [of_another_id, of_another_question, of_another_kind, no_answer_at_all]
)
def test_a_forged_answer_is_not_listened_to(
    world: World, forge: Callable[[bytes], list[bytes]]
) -> None:
    """It comes before the true one."""
    world.takes_mail("shop.com")
    with packets(lambda wire: [*forge(wire), world.answer(wire) or b""]) as server:
        assert reason_of(Engine(Resolver([server], seconds=SECONDS))) == "domain_accepts_mail"


def test_an_answer_from_another_address_is_not_listened_to(world: World) -> None:
    """Whoever guesses id and port still has another address."""
    world.takes_mail("shop.com")
    asked_from: list[int] = []

    def answer(wire: bytes) -> list[bytes]:
        forged = lie(dns.message.from_wire(wire)).to_wire()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as liar:
            liar.bind(("127.0.0.1", 0))
            for port in _ports_of_this_process():
                asked_from.append(port)
                liar.sendto(forged, ("127.0.0.1", port))
        return [world.answer(wire) or b""]

    with packets(answer) as server:
        assert reason_of(Engine(Resolver([server], seconds=SECONDS))) == "domain_accepts_mail"
    assert asked_from


def _ports_of_this_process() -> list[int]:
    return [one.laddr.port for one in psutil.Process().net_connections("udp4") if one.raddr]


def test_what_an_answer_brings_along_about_others_is_not_remembered(world: World) -> None:
    """A server for one domain must not say where the mail of another goes."""
    world.takes_mail("shop.com")
    world.takes_mail("bank.com")

    def with_a_gift(query: dns.message.Message) -> dns.message.Message:
        message = world.told(query, "shop.com", "MX")
        poison = dns.rrset.from_text("bank.com.", 300, "IN", "MX", "0 .")
        for section in (message.answer, message.authority, message.additional):
            section.append(poison)
        return message

    world.behaves("shop.com", "MX", with_a_gift)
    with packets(lambda wire: [world.answer(wire) or b""]) as server:
        engine = Engine(Resolver([server], seconds=SECONDS))
        assert engine.check(EMAIL).reason == "domain_accepts_mail"
        assert engine.check("jane@bank.com").reason == "domain_accepts_mail"
    assert world.asked["bank.com", "MX"] == 1


def test_ids_and_ports_cannot_be_foreseen(world: World) -> None:
    ids: list[int] = []

    def note(wire: bytes) -> list[bytes]:
        ids.append(int.from_bytes(wire[:2], "big"))
        return [world.answer(wire) or b""]

    with packets(note) as server:
        engine = Engine(Resolver([server], seconds=SECONDS))
        for number in range(40):
            engine.check(f"jane@nowhere-{number}.com")
    steps = {later - earlier for earlier, later in pairwise(ids)}
    assert len(set(ids)) > 0.9 * len(ids)
    assert len(steps) > 0.8 * len(ids)
