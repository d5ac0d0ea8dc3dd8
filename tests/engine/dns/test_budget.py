"""How many messages one lookup sends, as counted by the DNS server that receives them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.check import Engine
from engine.dns.budget import SIGN_UP, VISITOR
from engine.dns.resolver import Resolver
from tests.engine.conftest import SECONDS
from tests.engine.hostile_domains import (
    HOSTILE,
    add_mail_hosts,
    endless_aliases,
    failing_hosts,
    mail_hosts,
    many_hosts,
    silent_hosts,
)
from tests.servers.dns import FakeDns, dns_server, endless_cname_chain, silence

Script = Callable[[FakeDns, str], None]
hostile = pytest.mark.parametrize("script", HOSTILE)

MAX_MESSAGES, MAX_VISITOR_MESSAGES, MAX_EXAMINED_HOSTS = 60, 4, 10


def verdict_and_reason(engine: Engine) -> tuple[str, str]:
    finding = engine.check("jane@shop.com")
    return finding.verdict, finding.reason


@hostile
def test_check_over_two_resolvers_sends_at_most_sixty_messages(
    fake_dns: FakeDns, server: str, script: Script
) -> None:
    other = FakeDns()
    for dns in (fake_dns, other):
        script(dns, "shop.com")
    with dns_server(other) as second:
        engine = Engine(Resolver([server, second], seconds=3 * SECONDS))
        assert verdict_and_reason(engine) == ("unknown", "dns_failure")
    assert 0 < fake_dns.messages + other.messages <= MAX_MESSAGES


def test_concurrent_checks_of_one_domain_share_one_budget(
    engine: Engine, fake_dns: FakeDns
) -> None:
    endless_aliases(fake_dns, "shop.com")
    with ThreadPoolExecutor(16) as pool:
        findings = pool.map(engine.check, (f"jane{number}@shop.com" for number in range(32)))
        assert {finding.verdict for finding in findings} == {"unknown"}
    assert 0 < fake_dns.messages <= MAX_MESSAGES


def test_each_subdomain_has_a_separate_budget(engine: Engine, fake_dns: FakeDns) -> None:
    domains = [f"{number}.shop.com" for number in range(8)]
    for domain in domains:
        endless_aliases(fake_dns, domain)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(engine.check, (f"jane@{domain}" for domain in domains)))
    assert 0 < fake_dns.messages <= MAX_MESSAGES * len(domains)


@pytest.mark.parametrize("script", [many_hosts, silent_hosts, failing_hosts])
def test_only_the_ten_preferred_hosts_are_looked_up(
    engine: Engine, fake_dns: FakeDns, script: Script
) -> None:
    script(fake_dns, "shop.com")
    engine.check("jane@shop.com")
    resolved = {name for name, record_type in fake_dns.queries if record_type in {"A", "AAAA"}}
    assert resolved == set(mail_hosts("shop.com", count=MAX_EXAMINED_HOSTS))


def test_tenth_host_with_an_address_is_enough(patient_engine: Engine, fake_dns: FakeDns) -> None:
    add_mail_hosts(fake_dns, "shop.com")
    fake_dns.add_records(f"mx{MAX_EXAMINED_HOSTS - 1}.shop.com", A="8.8.8.8")
    finding = patient_engine.check("jane@shop.com")
    assert finding.reason == "domain_accepts_mail"
    assert len(finding.route.hosts) == 100


@pytest.mark.parametrize("record_type", ["A", "AAAA"])
def test_domain_with_twelve_reachable_hosts_is_deliverable(
    patient_engine: Engine, fake_dns: FakeDns, record_type: str
) -> None:
    hosts = mail_hosts("shop.com", count=12)
    fake_dns.add_records("shop.com", MX=[f"10 {host}." for host in hosts])
    for host in hosts:
        fake_dns.add_records(
            host, **{record_type: "8.8.8.8" if record_type == "A" else "2606:4700::1"}
        )
    assert patient_engine.check("jane@shop.com").reason == "domain_accepts_mail"


def test_ten_hosts_without_an_address_are_undeliverable(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    """All hosts were examined, within the budget."""
    hosts = mail_hosts("shop.com", count=MAX_EXAMINED_HOSTS)
    fake_dns.add_records("shop.com", MX=[f"10 {host}." for host in hosts])
    assert patient_engine.check("jane@shop.com").reason == "no_mail_server"


@hostile
def test_visitor_check_sends_at_most_four_messages(
    engine: Engine, fake_dns: FakeDns, script: Script
) -> None:
    script(fake_dns, "shop.com")
    engine.check("jane@shop.com", scope=VISITOR)
    assert 0 < fake_dns.messages <= MAX_VISITOR_MESSAGES


def test_visitor_check_resolves_only_the_preferred_mail_host(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_records("shop.com", MX=["20 other.shop.com.", "10 mx.shop.com."])
    assert patient_engine.check("jane@shop.com", scope=VISITOR).reason == "domain_accepts_mail"
    assert {name for name, _ in fake_dns.queries} == {"shop.com", "mx.shop.com"}


@pytest.mark.parametrize(
    ("hosts", "reason"),
    [
        (["10 mx.shop.com."], "no_mail_server"),
        (["10 mx.shop.com.", "20 b.shop.com."], "dns_failure"),
    ],
)
def test_visitor_check_without_an_address_is_definite_if_the_domain_has_one_host(
    patient_engine: Engine, fake_dns: FakeDns, hosts: list[str], reason: str
) -> None:
    fake_dns.add_records("shop.com", MX=hosts)
    assert patient_engine.check("jane@shop.com", scope=VISITOR).reason == reason


@pytest.mark.proof
@pytest.mark.parametrize("behavior", [None, silence])
def test_check_after_a_sign_up_check_does_a_full_lookup(
    patient_engine: Engine, fake_dns: FakeDns, behavior: Callable[..., None] | None
) -> None:
    """The next check also queries what the sign-up check left out."""
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_records("shop.com", TXT='"v=spf1 mx -all"')
    if behavior is not None:
        fake_dns.set_behavior("shop.com", "MX", behavior)
    patient_engine.check("jane@shop.com", scope=SIGN_UP)
    fake_dns.behaviors.clear()
    finding = patient_engine.check("jane@shop.com")
    assert (finding.reason, finding.route.spf) == ("domain_accepts_mail", "strict")
    assert finding.dns_cached is False


def test_alias_chain_too_long_for_sign_up_is_resolved_by_the_next_check(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    """Five aliases exceed the budget of a sign-up check, but not that of a full check."""
    fake_dns.add_mail_domain("xxxxxshop.com")
    for hops in range(5):
        fake_dns.set_behavior("x" * hops + "shop.com", "MX", endless_cname_chain)
    patient_engine.check("jane@shop.com", scope=SIGN_UP)
    assert patient_engine.check("jane@shop.com").reason == "domain_accepts_mail"


class Limit:
    def __init__(self) -> None:
        self.consulted = self.exhausted = 0

    def allows_lookup(self) -> bool:
        self.consulted += 1
        return True

    def record_exhausted(self) -> None:
        self.exhausted += 1


def test_lookup_limit_is_consulted_only_before_a_lookup(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    limit = Limit()
    fake_dns.add_mail_domain("shop.com")
    for email in ("no address", "jane@shop.example", "jane@shop.com", "joe@shop.com"):
        patient_engine.check(email, limit=limit)
    assert (limit.consulted, limit.exhausted) == (1, 0)


def test_exhausted_lookup_is_recorded_once(patient_engine: Engine, fake_dns: FakeDns) -> None:
    limit = Limit()
    endless_aliases(fake_dns, "shop.com")
    with ThreadPoolExecutor(8) as pool:
        emails = [f"{name}@shop.com" for name in "abcdefgh"]
        list(pool.map(lambda email: patient_engine.check(email, limit=limit), emails))
    assert limit.exhausted == 1
