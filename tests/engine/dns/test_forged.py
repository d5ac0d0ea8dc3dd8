"""Forged replies: with another ID, for another query, or from another address."""

import socket
from collections.abc import Callable
from itertools import pairwise

import dns.flags
import dns.message
import dns.rrset
import psutil
import pytest

from engine.check import Engine
from engine.dns.resolver import Resolver
from tests.engine.conftest import EMAIL, SECONDS, get_reason
from tests.servers.dns import FakeDns, packet_server


def forge_null_mx(query: dns.message.Message, name: str = "") -> dns.message.Message:
    """Claim that the name accepts no mail, as a forger might."""
    message = dns.message.make_response(query)
    message.flags |= dns.flags.RA
    name = name or query.question[0].name.to_text()
    message.answer.append(dns.rrset.from_text(name, 300, "IN", "MX", "0 ."))
    return message


def with_other_id(wire: bytes) -> list[bytes]:
    query_id = int.from_bytes(wire[:2], "big")
    forged = forge_null_mx(dns.message.from_wire(wire)).to_wire()
    return [(query_id + step & 0xFFFF).to_bytes(2, "big") + forged[2:] for step in (1, -1, 256)]


def with_other_name(wire: bytes) -> list[bytes]:
    query = dns.message.from_wire(wire)
    other = dns.message.make_query("other.com.", "MX", id=query.id)
    return [forge_null_mx(other).to_wire()]


def with_other_type(wire: bytes) -> list[bytes]:
    query = dns.message.from_wire(wire)
    other = dns.message.make_query(query.question[0].name, "NS", id=query.id)
    return [forge_null_mx(other).to_wire()]


def echoed_query(wire: bytes) -> list[bytes]:
    return [wire]


@pytest.mark.parametrize("forge", [with_other_id, with_other_name, with_other_type, echoed_query])
def test_forged_reply_is_ignored(fake_dns: FakeDns, forge: Callable[[bytes], list[bytes]]) -> None:
    """The forged reply arrives before the real one."""
    fake_dns.add_mail_domain("shop.com")
    with packet_server(lambda wire: [*forge(wire), fake_dns.answer(wire) or b""]) as server:
        assert get_reason(Engine(Resolver([server], seconds=SECONDS))) == "domain_accepts_mail"


def test_reply_from_another_address_is_ignored(fake_dns: FakeDns) -> None:
    """The forger has guessed the ID and the port."""
    fake_dns.add_mail_domain("shop.com")
    target_ports: list[int] = []

    def answer(wire: bytes) -> list[bytes]:
        forged = forge_null_mx(dns.message.from_wire(wire)).to_wire()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as forger:
            forger.bind(("127.0.0.1", 0))
            for port in _connected_ports():
                target_ports.append(port)
                forger.sendto(forged, ("127.0.0.1", port))
        return [fake_dns.answer(wire) or b""]

    with packet_server(answer) as server:
        assert get_reason(Engine(Resolver([server], seconds=SECONDS))) == "domain_accepts_mail"
    assert target_ports


def _connected_ports() -> list[int]:
    connections = psutil.Process().net_connections("udp4")
    return [connection.laddr.port for connection in connections if connection.raddr]


def test_unrelated_records_in_a_reply_are_not_cached(fake_dns: FakeDns) -> None:
    """A server for one domain must not redirect the mail of another."""
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_mail_domain("bank.com")

    def with_poison(query: dns.message.Message) -> dns.message.Message:
        message = fake_dns.build_reply(query, "shop.com", "MX")
        poison = dns.rrset.from_text("bank.com.", 300, "IN", "MX", "0 .")
        for section in (message.answer, message.authority, message.additional):
            section.append(poison)
        return message

    fake_dns.set_behavior("shop.com", "MX", with_poison)
    with packet_server(lambda wire: [fake_dns.answer(wire) or b""]) as server:
        engine = Engine(Resolver([server], seconds=SECONDS))
        assert engine.check(EMAIL).reason == "domain_accepts_mail"
        assert engine.check("jane@bank.com").reason == "domain_accepts_mail"
    assert fake_dns.queries["bank.com", "MX"] == 1


def test_query_ids_are_unpredictable(fake_dns: FakeDns) -> None:
    ids: list[int] = []

    def record_id(wire: bytes) -> list[bytes]:
        ids.append(int.from_bytes(wire[:2], "big"))
        return [fake_dns.answer(wire) or b""]

    with packet_server(record_id) as server:
        engine = Engine(Resolver([server], seconds=SECONDS))
        for number in range(40):
            engine.check(f"jane@nowhere-{number}.com")
    steps = {later - earlier for earlier, later in pairwise(ids)}
    assert len(set(ids)) > 0.9 * len(ids)
    assert len(steps) > 0.8 * len(ids)
