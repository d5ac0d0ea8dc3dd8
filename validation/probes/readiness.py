"""Find out what an operator still has to do before asking mail servers."""

import ipaddress
from collections.abc import Iterator
from typing import NamedTuple

import dns.exception
import dns.resolver
import dns.reversename
from django.conf import settings

from accounts.engine import get_engine
from engine import Dialer, MailboxQuestion, SmtpOutcome, find_targets, is_public, probe_host
from validation.probes.egress import DIRECT, egresses

# Mailboxes that mail servers' operators write to (RFC 2142).
CONTACTS = ("postmaster", "abuse")


class Requirement(NamedTuple):
    name: str
    # What is missing, and what to do. Empty: it is met.
    problem: str = ""


def check_requirements() -> Iterator[Requirement]:
    domain, sender = settings.PROBE_DOMAIN, settings.PROBE_SENDER.rpartition("@")[2]
    if not domain:
        yield Requirement("Domain", "Set PROBE_DOMAIN to a name of yours, such as probe.shop.com.")
        return
    forward = {*_look_up(domain, "A"), *_look_up(domain, "AAAA")}
    mail_hosts = sorted(_look_up(sender, "MX"))
    hosts = [text.split()[-1].rstrip(".").lower() for text in mail_hosts]
    yield Requirement(
        f"MX of {sender}", "" if hosts else f"Publish an MX record for {sender}: replies go there."
    )
    for egress, dial in egresses().items():
        address = _public_address(egress)
        if address is None:
            yield Requirement(
                f"Address of {egress}",
                "Its public address isn't known. Set PROBE_ADDRESS to this machine's public "
                "address, or name the proxy by its public address.",
            )
        else:
            yield _check_names(address, domain, forward)
            yield _check_spf(address, sender, hosts)
        if hosts:
            yield from _check_port(egress, dial, sender, hosts)


def _check_names(address: str, domain: str, forward: set[str]) -> Requirement:
    """Mail servers compare the name in EHLO with both records."""
    names = {
        text.rstrip(".").lower()
        for text in _look_up(dns.reversename.from_address(address).to_text(), "PTR")
    }
    problem = ""
    if address not in forward:
        problem = f"Publish an A or AAAA record of {domain} with {address}."
    elif names != {domain}:
        found = ", ".join(sorted(names)) or "none"
        problem = f"Ask the address's provider for the PTR record {domain}. Found: {found}."
    return Requirement(f"Name of {address}", problem)


def _check_spf(address: str, sender: str, hosts: list[str]) -> Requirement:
    policies = [text for text in _look_up(sender, "TXT") if text.lower().startswith("v=spf1")]
    ip = ipaddress.ip_address(address)
    problem = f'Publish a TXT record of {sender}: "v=spf1 ip{ip.version}:{address} -all".'
    terms = policies[0].lower().split()[1:] if len(policies) == 1 else []
    if any(_covers(term, address, sender, hosts) for term in terms):
        problem = ""
    return Requirement(f"SPF of {sender} for {address}", problem)


def _covers(term: str, address: str, sender: str, hosts: list[str]) -> bool:
    """Return whether an SPF mechanism allows the address. Others, such as include, aren't read."""
    kind, _, value = term.lstrip("+").partition(":")
    match kind:
        case "ip4" | "ip6":
            return ipaddress.ip_address(address) in ipaddress.ip_network(value, strict=False)
        case "a":
            return address in _addresses(value or sender)
        case "mx":
            return any(address in _addresses(host) for host in hosts)
    return False


def _check_port(egress: str, dial: Dialer, sender: str, hosts: list[str]) -> Iterator[Requirement]:
    """Talk to the operator's own mail server, as to any other."""
    engine = get_engine()
    for recipient in (settings.PROBE_SENDER, *(f"{name}@{sender}" for name in CONTACTS)):
        question = MailboxQuestion(settings.PROBE_DOMAIN, settings.PROBE_SENDER, recipient)
        targets = find_targets(hosts, engine.find_addresses)
        conversation = probe_host(targets, question, dial=dial).conversation
        name = f"{recipient} through {egress}"
        if not conversation.steps:
            problem = f"No answer from {hosts[0]} on port 25: {conversation.outcome}."
            if conversation.outcome != SmtpOutcome.PROXY_FAILED:
                problem += " Most clouds block this port: docs/operations/mailbox-checks.md."
            yield Requirement("Port 25 through " + egress, problem)
            return
        replies = conversation.recipient_replies
        is_accepted = bool(replies) and replies[0].startswith(b"25")
        reply = conversation.reply.decode("utf-8", "replace")[:200]
        yield Requirement(name, "" if is_accepted else f"Create this mailbox. Reply: {reply}")


def _public_address(egress: str) -> str | None:
    if egress == DIRECT:
        found = [settings.PROBE_ADDRESS]
    else:
        host = egress.rpartition(":")[0].strip("[]")
        found = [host, *sorted(_addresses(host))]
    return next(filter(is_public, found), None)


def _addresses(name: str) -> set[str]:
    return {*_look_up(name, "A"), *_look_up(name, "AAAA")}


def _look_up(name: str, kind: str) -> list[str]:
    resolver = dns.resolver.Resolver(configure=not settings.DNS_RESOLVERS)
    if settings.DNS_RESOLVERS:
        host, _, port = settings.DNS_RESOLVERS[0].rpartition(":")
        resolver.nameservers, resolver.port = [host.strip("[]")], int(port)
    try:
        answer = resolver.resolve(name, kind, search=False)
    except dns.exception.DNSException:
        return []
    if kind == "TXT":
        return ["".join(part.decode("utf-8", "replace") for part in row.strings) for row in answer]
    return [row.to_text() for row in answer]
