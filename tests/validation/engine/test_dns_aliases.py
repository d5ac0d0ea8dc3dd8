"""Names that are aliases of others, as servers tell them whole, in part or without end."""

from typing import Any

import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from tests.servers.dns import World, dns_server, packets, servfail
from tests.validation.engine.conftest import SECONDS, reason_of
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere


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


def test_an_alias_of_nothing_is_a_failure(engine: Engine, world: World) -> None:
    def to_the_root(query: dns.message.Message) -> dns.message.Message:
        message = dns.message.make_response(query)
        message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "CNAME", "."))
        return message

    world.behaves("shop.com", "MX", to_the_root)
    assert reason_of(engine) == "dns_failure"
