"""Domains that make a resolver work as hard as they can."""

import dns.message
import dns.rdatatype
import dns.rrset

from tests.servers.dns import World, endless_alias, servfail, silence, truncated

MX, A, AAAA = "MX", "A", "AAAA"


def hosts_of(domain: str, *, zone: str = "", count: int = 100) -> list[str]:
    return [f"mx{place}.{zone or domain}" for place in range(count)]


def names_hosts(world: World, domain: str, *, zone: str = "") -> None:
    hosts = hosts_of(domain, zone=zone)
    world.has(domain, MX=[f"{place} {host}." for place, host in enumerate(hosts)])


def many_hosts(world: World, domain: str) -> None:
    names_hosts(world, domain)


def endless_aliases(world: World, domain: str) -> None:
    names_hosts(world, domain)
    world.below[domain] = endless_alias


def only_aliases(world: World, domain: str) -> None:
    """The domain's own records are as far away as those of its hosts would be."""
    world.below["com"] = endless_alias


def silent_hosts(world: World, domain: str) -> None:
    names_hosts(world, domain)
    world.below[domain] = silence


def failing_hosts(world: World, domain: str) -> None:
    names_hosts(world, domain)
    world.below[domain] = servfail


def hosts_of_a_victim(world: World, domain: str) -> None:
    names_hosts(world, domain, zone="victim.net")
    world.below["victim.net"] = silence


def wildcards(world: World, domain: str) -> None:
    """Every name below the domain has a hundred mail hosts, and a private address."""

    def invent(query: dns.message.Message) -> dns.message.Message:
        name = query.question[0].name.to_text()
        kind = dns.rdatatype.to_text(query.question[0].rdtype)
        message = dns.message.make_response(query)
        texts = {MX: [f"1 {host}" for host in hosts_of(name)], A: ["10.0.0.1"], AAAA: ["::1"]}
        if kind in texts:
            message.answer.append(dns.rrset.from_text(name, 60, "IN", kind, *texts[kind]))
        return message

    names_hosts(world, domain)
    world.below[domain] = invent


def truncated_answers(world: World, domain: str) -> None:
    names_hosts(world, domain)
    world.always = truncated


HOSTILE = [
    *(many_hosts, endless_aliases, only_aliases, silent_hosts, failing_hosts, hosts_of_a_victim),
    *(wildcards, truncated_answers),
]
