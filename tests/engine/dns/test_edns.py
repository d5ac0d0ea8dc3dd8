"""Servers that can't handle EDNS options are queried without them."""

import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rdatatype
import pytest

from engine.check import Engine
from engine.dns.resolver import Resolver
from tests.engine.conftest import SECONDS
from tests.servers.dns import Behavior, FakeDns, dns_server, reply_with_code, servfail, silence

MX = ("shop.com", "MX")


class OldServer:
    """Serves scripted records, but reacts differently to queries with EDNS options."""

    def __init__(self, fake_dns: FakeDns, to_edns: Behavior) -> None:
        self.fake_dns = fake_dns
        self.to_edns = to_edns
        self.edns_queries = 0

    def __call__(self, query: dns.message.Message) -> dns.message.Message | bytes | None:
        if query.edns >= 0:
            self.edns_queries += 1
            return self.to_edns(query)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True)
        return self.fake_dns.build_reply(query, name, dns.rdatatype.to_text(question.rdtype))


def bad_version(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.use_edns(0)
    message.set_rcode(dns.rcode.BADVERS)
    return message


def without_question(query: dns.message.Message) -> bytes:
    """Build a FORMERR reply that is only a header."""
    return query.to_wire()[:2] + bytes((0x80, dns.rcode.FORMERR)) + bytes(8)


def refusal(name: str) -> Behavior:
    return reply_with_code(dns.rcode.from_text(name))


REACTIONS: dict[str, Behavior] = {
    "silence": silence,
    "BADVERS": bad_version,
    "bare FORMERR": without_question,
    **{name: refusal(name) for name in ("FORMERR", "NOTIMP", "SERVFAIL")},
}


@pytest.mark.parametrize("reaction", REACTIONS.values(), ids=REACTIONS)
def test_server_without_edns_is_queried_without_it_from_then_on(
    patient_engine: Engine, fake_dns: FakeDns, reaction: Behavior
) -> None:
    for number in range(3):
        fake_dns.add_mail_domain(f"shop{number}.com")
    old_server = fake_dns.default_behavior = OldServer(fake_dns, reaction)
    assert patient_engine.check("jane@shop0.com").reason == "domain_accepts_mail"
    seen, messages = old_server.edns_queries, fake_dns.messages
    assert seen
    for number in (1, 2):
        assert patient_engine.check(f"jane@shop{number}.com").is_definite
    assert old_server.edns_queries == seen
    assert fake_dns.messages - messages <= 2 * messages


def test_many_hosts_behind_a_server_without_edns_stay_within_the_budget(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_records("shop.com", MX=[f"{n} mx{n}.shop.com." for n in range(10)])
    fake_dns.add_records("mx9.shop.com", A="8.8.8.8")
    fake_dns.default_behavior = OldServer(fake_dns, silence)
    assert patient_engine.check("jane@shop.com").reason == "domain_accepts_mail"
    assert fake_dns.messages <= 60


def test_query_that_one_path_drops_is_sent_without_edns(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    """The server supports EDNS; a firewall behind it, for one domain, doesn't."""
    for name in ("store.com", "shop.com"):
        fake_dns.add_mail_domain(name)
    assert patient_engine.check("jane@store.com").is_definite
    for kind in ("MX", "TXT"):
        fake_dns.set_behavior("shop.com", kind, OldServer(fake_dns, silence))
    assert patient_engine.check("jane@shop.com").reason == "domain_accepts_mail"


def test_lost_packet_of_a_server_with_edns_is_not_remembered(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    for name in ("shop.com", "store.com", "outlet.com"):
        fake_dns.add_mail_domain(name)
    with dns_server(fake_dns) as server:
        resolver = Resolver([server], seconds=3 * SECONDS)
        engine = Engine(resolver)
        assert engine.check("jane@store.com").is_definite
        fake_dns.set_behavior(*MX, OldServer(fake_dns, silence))
        assert engine.check("jane@shop.com").is_definite
        assert not any(map(resolver.edns_memory.is_unsupported, resolver.servers))


def test_broken_domain_costs_one_more_try(patient_engine: Engine, fake_dns: FakeDns) -> None:
    """A SERVFAIL is usually the domain's fault, so queries aren't repeated further."""
    fake_dns.add_records("shop.com", MX=[f"{n} mx{n}.shop.com." for n in range(10)])
    fake_dns.zone_behaviors["shop.com"] = servfail
    fake_dns.set_behavior("shop.com", "TXT", servfail)
    assert patient_engine.check("jane@shop.com").reason == "dns_failure"
    assert max(fake_dns.queries.values()) <= 2
    hosts = [count for (name, _), count in fake_dns.queries.items() if name.startswith("mx")]
    assert hosts == [1] * 20


def test_failing_hosts_of_a_cached_domain_are_queried_once_if_the_server_supports_edns(
    fake_dns: FakeDns,
) -> None:
    """The MX record isn't queried again, so only an earlier lookup shows that EDNS works."""
    now = 1_000.0
    fake_dns.add_records("shop.com", MX=[f"{n} mx{n}.shop.com." for n in range(10)])
    fake_dns.zone_behaviors["shop.com"] = servfail
    with dns_server(fake_dns) as address:
        engine = Engine(Resolver([address], seconds=3 * SECONDS, clock=lambda: now))
        assert engine.check("jane@shop.com").reason == "dns_failure"
        fake_dns.queries.clear()
        # Failures are cached for a few seconds only.
        now += 10
        assert engine.check("jane@shop.com").reason == "dns_failure"
    hosts = [count for (name, _), count in fake_dns.queries.items() if name.startswith("mx")]
    assert hosts == [1] * 20
    assert ("shop.com", "MX") not in fake_dns.queries


def test_memory_of_a_server_without_edns_ends(fake_dns: FakeDns) -> None:
    now = 1_000.0
    fake_dns.add_mail_domain("shop.com")
    fake_dns.default_behavior = OldServer(fake_dns, refusal("FORMERR"))
    with dns_server(fake_dns) as address:
        resolver = Resolver([address], seconds=3 * SECONDS, clock=lambda: now)
        assert Engine(resolver).check("jane@shop.com").is_definite
        server = resolver.servers[0]
        assert resolver.edns_memory.is_unsupported(server)
        now += 301
        assert not resolver.edns_memory.is_unsupported(server)
