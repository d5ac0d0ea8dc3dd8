"""Findings from stored facts, and lookups of many domains."""

import ctypes
from dataclasses import replace

import dns.message
import dns.rcode

from engine.check import Engine
from engine.dns.mail_route import dump_route, load_route
from engine.syntax.parsing import AddressParts, parse_address
from tests.engine.conftest import look_up
from tests.servers.dns import FakeDns, reply_with_code, silence

LOCAL_PARTS = (
    *("jane", "Jane.Doe+news", "info", "no-reply", "josé", '"a b"', "j-d", "jane.", "a" * 65),
    *("аdmin", "jаne", "postmaster+x", "1"),
)
DOMAINS = (
    *("shop.com", "a-record.com", "null.com", "denied.com", "failing.com", "gmail.com"),
    *("gmial.com", "mailinator.com", "shop.example", "sub.shop.com", "bücher.com", "localhost"),
    *("unroutable.com", "shop.com.", "[127.0.0.1]", "no-host.com", "SHOP.com"),
)
EMAILS = [f"{local_part}@{domain}" for local_part in LOCAL_PARTS for domain in DOMAINS]


def hold_all_threads(seconds: float) -> None:
    # PyDLL calls C without releasing the interpreter.
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))


def script(fake_dns: FakeDns) -> None:
    for domain in ("shop.com", "gmail.com", "mailinator.com", "xn--bcher-kva.com"):
        fake_dns.add_mail_domain(domain)
    fake_dns.add_records("shop.com", TXT='"v=spf1 -all"')
    fake_dns.add_records("_dmarc.shop.com", TXT='"v=DMARC1; p=reject"')
    fake_dns.add_records("a-record.com", A="8.8.4.4")
    fake_dns.add_records("null.com", MX="0 .")
    fake_dns.add_mail_domain("unroutable.com", address="10.0.0.1")
    fake_dns.add_records("no-host.com", MX="10 mx.nowhere.com.")
    fake_dns.set_behavior("failing.com", "MX", reply_with_code(dns.rcode.SERVFAIL))


def find_domains(emails: list[str]) -> list[str]:
    parts = map(parse_address, emails)
    return list({part.ascii_domain: None for part in parts if isinstance(part, AddressParts)})


def test_facts_lead_to_the_same_findings_as_single_checks(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    script(fake_dns)
    routes = patient_engine.look_up(find_domains(EMAILS), at_once=4)
    stored = {domain: dump_route(route) for domain, route in routes}
    facts = {
        domain: patient_engine.describe(domain, load_route(text)) for domain, text in stored.items()
    }
    for email in EMAILS:
        found = patient_engine.check_offline(email, facts).document()
        assert found == patient_engine.check(email).document()
    assert len({patient_engine.check_offline(email, facts).reason for email in EMAILS}) > 10


def test_route_is_the_same_after_it_was_stored(patient_engine: Engine, fake_dns: FakeDns) -> None:
    script(fake_dns)
    for domain in find_domains(EMAILS):
        route = look_up(patient_engine, domain)
        assert load_route(dump_route(route)) == replace(route, expires_at=0.0), domain


def test_unknown_domain_is_not_looked_up_for_an_offline_check(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("shop.com")
    assert engine.check_offline("jane@shop.com", {}).reason == "check_failed"
    assert not fake_dns.messages


def test_domains_are_looked_up_once_in_a_process(patient_engine: Engine, fake_dns: FakeDns) -> None:
    for number in range(8):
        fake_dns.add_mail_domain(f"shop{number}.com", host="mx.provider.com")
    domains = [f"shop{number}.com" for number in range(8)]
    for _ in range(3):
        routes = dict(patient_engine.look_up(domains, at_once=1))
        assert all(route.accepts_mail for route in routes.values())
    assert {fake_dns.queries[domain, "MX"] for domain in domains} == {1}
    assert fake_dns.queries["mx.provider.com", "A"] == 1


def test_lists_query_ipv6_addresses_only_of_hosts_without_an_ipv4_address(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_records("v6.com", MX="10 mx.v6.com.")
    fake_dns.add_records("mx.v6.com", AAAA="2606:4700::1111")
    assert all(look_up(patient_engine, domain).accepts_mail for domain in ("shop.com", "v6.com"))
    assert fake_dns.queries["mx.shop.com", "AAAA"] == 0
    assert fake_dns.queries["mx.v6.com", "AAAA"] == 1


def test_silent_ipv4_query_does_not_hide_an_ipv6_address(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("v6.com", MX="10 mx.v6.com.")
    fake_dns.add_records("mx.v6.com", AAAA="2606:4700::1111")
    fake_dns.set_behavior("mx.v6.com", "A", silence)
    assert look_up(engine, "v6.com").accepts_mail
    # The first try, and no other until the lookup ended.
    assert fake_dns.queries["mx.v6.com", "A"] <= 2


def test_lookup_that_timed_out_while_the_process_lagged_is_repeated(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("shop.com")
    asked = []

    def lag_once(query: dns.message.Message) -> dns.message.Message | None:
        asked.append(query)
        if len(asked) > 3:
            return fake_dns.build_reply(query, "shop.com", "MX")
        hold_all_threads(0.2)
        return None

    fake_dns.set_behavior("shop.com", "MX", lag_once)
    ((_, route),) = engine.look_up(["shop.com"], at_once=2)
    assert route.accepts_mail
