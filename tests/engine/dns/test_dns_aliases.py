"""Aliases that servers return completely, in part or endlessly."""

from typing import Any

import dns.message
import dns.rdatatype
import dns.rrset

from engine.check import Engine
from engine.dns.resolver import Resolver
from tests.engine.conftest import SECONDS, get_reason
from tests.servers.dns import (
    FakeDns,
    alias_to,
    dns_server,
    endless_cname_chain,
    packet_server,
    servfail,
)


def test_alias_without_its_target_is_followed(engine: Engine, fake_dns: FakeDns) -> None:
    """Authoritative servers reply like this when the target is in another zone."""
    fake_dns.add_mail_domain("other.com")
    fake_dns.set_behavior("shop.com", "MX", alias_to("other.com."))
    assert get_reason(engine) == "domain_accepts_mail"


def test_endless_aliases_are_a_failure(engine: Engine, fake_dns: FakeDns) -> None:
    names = ["shop.com"]
    for _ in range(20):
        names.append(f"x{names[-1]}")
    for name in names:
        fake_dns.set_behavior(name, "MX", endless_cname_chain)
    assert get_reason(engine) == "dns_failure"
    assert (
        sum(count for (_, record_type), count in fake_dns.queries.items() if record_type == "MX")
        <= 11
    )


def test_lame_reply_for_an_alias_does_not_count_for_its_target(fake_dns: FakeDns) -> None:
    def alias_then_failure(query: dns.message.Message) -> Any:
        is_first = query.question[0].name.to_text() == "shop.com."
        return (alias_to("other.com.") if is_first else servfail)(query)

    lame, aliased = (
        FakeDns(default_behavior=dns.message.make_response),
        FakeDns(default_behavior=alias_then_failure),
    )
    with dns_server(lame) as first, dns_server(aliased) as second:
        assert get_reason(Engine(Resolver([first, second], seconds=SECONDS))) == "dns_failure"


def test_alias_chain_stays_with_the_server_that_replies(fake_dns: FakeDns) -> None:
    def next_alias(query: dns.message.Message) -> Any:
        name = query.question[0].name.to_text(omit_final_dot=True)
        if name.startswith("x" * 8):
            return fake_dns.build_reply(
                query, name, dns.rdatatype.to_text(query.question[0].rdtype)
            )
        return endless_cname_chain(query)

    fake_dns.add_mail_domain("xxxxxxxxshop.com")
    for hops in range(8):
        fake_dns.set_behavior("x" * hops + "shop.com", "MX", next_alias)
    with dns_server(fake_dns) as good, packet_server(lambda wire: []) as silent:
        engine = Engine(Resolver([good, silent], seconds=SECONDS))
        assert get_reason(engine) == "domain_accepts_mail"


def test_alias_of_the_root_is_a_failure(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.set_behavior("shop.com", "MX", alias_to("."))
    assert get_reason(engine) == "dns_failure"
