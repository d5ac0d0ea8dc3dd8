"""Script domains that cause as much work as possible for a resolver."""

import dns.message
import dns.rdatatype
import dns.rrset

from tests.servers.dns import FakeDns, endless_cname_chain, servfail, silence, truncated

MX, A, AAAA = "MX", "A", "AAAA"


def mail_hosts(domain: str, *, zone: str = "", count: int = 100) -> list[str]:
    return [f"mx{index}.{zone or domain}" for index in range(count)]


def add_mail_hosts(fake_dns: FakeDns, domain: str, *, zone: str = "") -> None:
    hosts = mail_hosts(domain, zone=zone)
    fake_dns.add_records(domain, MX=[f"{index} {host}." for index, host in enumerate(hosts)])


def many_hosts(fake_dns: FakeDns, domain: str) -> None:
    add_mail_hosts(fake_dns, domain)


def endless_aliases(fake_dns: FakeDns, domain: str) -> None:
    add_mail_hosts(fake_dns, domain)
    fake_dns.zone_behaviors[domain] = endless_cname_chain


def only_aliases(fake_dns: FakeDns, domain: str) -> None:
    """Hide the records of the domain and of its hosts behind endless aliases."""
    fake_dns.zone_behaviors["com"] = endless_cname_chain


def silent_hosts(fake_dns: FakeDns, domain: str) -> None:
    add_mail_hosts(fake_dns, domain)
    fake_dns.zone_behaviors[domain] = silence


def failing_hosts(fake_dns: FakeDns, domain: str) -> None:
    add_mail_hosts(fake_dns, domain)
    fake_dns.zone_behaviors[domain] = servfail


def hosts_of_a_victim(fake_dns: FakeDns, domain: str) -> None:
    add_mail_hosts(fake_dns, domain, zone="victim.net")
    fake_dns.zone_behaviors["victim.net"] = silence


def wildcards(fake_dns: FakeDns, domain: str) -> None:
    """Give every name below the domain a hundred mail hosts and a private address."""

    def reply(query: dns.message.Message) -> dns.message.Message:
        name = query.question[0].name.to_text()
        record_type = dns.rdatatype.to_text(query.question[0].rdtype)
        message = dns.message.make_response(query)
        texts = {MX: [f"1 {host}" for host in mail_hosts(name)], A: ["10.0.0.1"], AAAA: ["::1"]}
        if record_type in texts:
            message.answer.append(
                dns.rrset.from_text(name, 60, "IN", record_type, *texts[record_type])
            )
        return message

    add_mail_hosts(fake_dns, domain)
    fake_dns.zone_behaviors[domain] = reply


def truncated_replies(fake_dns: FakeDns, domain: str) -> None:
    add_mail_hosts(fake_dns, domain)
    fake_dns.default_behavior = truncated


HOSTILE = [
    *(many_hosts, endless_aliases, only_aliases, silent_hosts, failing_hosts, hosts_of_a_victim),
    *(wildcards, truncated_replies),
]
