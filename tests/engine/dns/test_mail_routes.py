"""How DNS records of a domain decide the verdict of its addresses."""

from typing import Any

import dns.message
import dns.rcode
import dns.rrset
import pytest

from engine.check import Engine
from engine.dns.messages import Outcome, Query, parse_reply
from tests.servers.dns import FakeDns, reply_with_code, servfail, silence

MX, A, AAAA = "MX", "A", "AAAA"


@pytest.fixture
def engine(patient_engine: Engine) -> Engine:
    return patient_engine


def check_dns(engine: Engine, email: str = "jane@shop.com") -> dict[str, Any]:
    """Return the fields of a result that depend on the DNS."""
    document = engine.check(email).document()
    checks = document["checks"]
    return {
        "verdict": document["verdict"],
        "reason": document["reason"],
        "evidence": document["evidence"],
        **{name: checks[name] for name in ("domain_exists", "accepts_mail", "null_mx")},
        "fallback": document["mx"]["fallback"],
    }


def expected(
    verdict: str,
    reason: str,
    *,
    exists: bool | None = True,
    accepts: bool | None = True,
    null_mx: bool | None = False,
    fallback: str | None = None,
    evidence: str = "dns",
) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "reason": reason,
        "evidence": evidence,
        "domain_exists": exists,
        "accepts_mail": accepts,
        "null_mx": null_mx,
        "fallback": fallback,
    }


DELIVERABLE = expected("deliverable", "domain_accepts_mail")
NO_SERVER = expected("undeliverable", "no_mail_server", accepts=False)
UNROUTABLE = expected("undeliverable", "unroutable_mail_server", accepts=False)
FAILURE = expected("unknown", "dns_failure", exists=None, accepts=None, null_mx=None)


def test_nonexistent_domain_is_not_found(engine: Engine) -> None:
    assert check_dns(engine) == expected(
        "undeliverable", "domain_not_found", exists=False, accepts=False
    )


def test_null_mx_needs_no_further_query(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", MX="0 .", A="8.8.8.8")
    assert check_dns(engine) == expected("undeliverable", "null_mx", accepts=False, null_mx=True)
    assert ("shop.com", A) not in fake_dns.queries
    assert engine.check("jane@shop.com").document()["mx"]["records"] == []


def test_root_among_other_mail_hosts_is_ignored(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", MX=["0 .", "10 mx.shop.com."])
    fake_dns.add_records("mx.shop.com", A="8.8.8.8")
    assert check_dns(engine) == DELIVERABLE
    records = engine.check("jane@shop.com").document()["mx"]["records"]
    assert records == [{"preference": 10, "host": "mx.shop.com"}]


@pytest.mark.parametrize(
    ("records", "fallback"),
    [
        ({A: "8.8.8.8"}, "a"),
        ({AAAA: "2606:4700::1"}, "aaaa"),
        ({A: "8.8.8.8", AAAA: "2606:4700::1"}, "a"),
        ({A: "10.0.0.1", AAAA: "2606:4700::1"}, "aaaa"),
    ],
)
def test_domain_without_mx_is_its_own_mail_host(
    engine: Engine, fake_dns: FakeDns, records: dict[str, str], fallback: str
) -> None:
    fake_dns.add_records("shop.com", **records)
    assert check_dns(engine) == expected("risky", "no_mx_record", fallback=fallback)
    assert engine.check("jane@shop.com").document()["mx"]["provider"] is None


@pytest.mark.parametrize("text", ["hello", "v=spf1 -all"])
def test_domain_without_mx_and_address_has_no_mail_server(
    engine: Engine, fake_dns: FakeDns, text: str
) -> None:
    fake_dns.add_records("shop.com", TXT=f'"{text}"')
    assert check_dns(engine) == NO_SERVER


@pytest.mark.parametrize(
    ("hosts", "result"),
    [
        ({}, NO_SERVER),
        ({"one": "10.0.0.1"}, UNROUTABLE),
        ({"one": "127.0.0.1", "two": "169.254.169.254"}, UNROUTABLE),
        ({"one": "10.0.0.1", "two": "8.8.8.8"}, DELIVERABLE),
        ({"two": "8.8.8.8"}, DELIVERABLE),
    ],
)
def test_any_public_mail_host_is_enough(
    engine: Engine, fake_dns: FakeDns, hosts: dict[str, str], result: dict[str, Any]
) -> None:
    fake_dns.add_records("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    for name, address in hosts.items():
        fake_dns.add_records(f"{name}.shop.com", A=address)
    assert check_dns(engine) == result


@pytest.mark.parametrize("record_type", [A, AAAA])
def test_failed_mail_host_query_leaves_the_verdict_unknown(
    engine: Engine, fake_dns: FakeDns, record_type: str
) -> None:
    fake_dns.add_records("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    fake_dns.add_records("one.shop.com", A="10.0.0.1")
    fake_dns.set_behavior("two.shop.com", record_type, servfail)
    assert check_dns(engine) == expected("unknown", "dns_failure", accepts=None)


def test_one_reachable_host_is_enough_when_others_fail(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    fake_dns.set_behavior("one.shop.com", A, silence)
    fake_dns.add_records("two.shop.com", A="8.8.8.8")
    fake_dns.set_behavior("two.shop.com", AAAA, servfail)
    assert check_dns(engine) == DELIVERABLE


@pytest.mark.parametrize("host", ["8.8.8.8.", "127.0.0.1."])
def test_ip_address_is_not_a_mail_host(engine: Engine, fake_dns: FakeDns, host: str) -> None:
    fake_dns.add_records("shop.com", MX=f"10 {host}")
    assert check_dns(engine) == NO_SERVER
    assert not any(name == host.rstrip(".") for name, _ in fake_dns.queries)


def test_domain_and_its_mail_host_may_be_aliases(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", CNAME="elsewhere.com.")
    fake_dns.add_records("elsewhere.com", MX="10 mx.elsewhere.com.")
    fake_dns.add_records("mx.elsewhere.com", CNAME="host.elsewhere.com.")
    fake_dns.add_records("host.elsewhere.com", A="8.8.8.8")
    assert check_dns(engine) == DELIVERABLE


def test_mx_records_are_sorted_by_preference(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", MX=["20 B.shop.com.", "5 c.shop.com.", "20 a.shop.com."])
    fake_dns.add_records("c.shop.com", A="8.8.8.8")
    records = engine.check("jane@shop.com").document()["mx"]["records"]
    assert [(record["preference"], record["host"]) for record in records] == [
        (5, "c.shop.com"),
        (20, "a.shop.com"),
        (20, "b.shop.com"),
    ]


@pytest.mark.parametrize(
    ("spf", "expected"),
    [
        ([], "none"),
        (["some text", "google-site-verification=1"], "none"),
        (["v=spf1 mx -all"], "strict"),
        (["v=spf1 -all"], "denies_all"),
        (["V=SPF1 MX -ALL"], "strict"),
        (["v=spf1 mx ~all"], "soft"),
        (["v=spf1 mx ?all"], "soft"),
        (["v=spf1 +all"], "soft"),
        (["v=spf1 mx"], "soft"),
        (["v=spf1"], "soft"),
        (["v=spf10 -all"], "none"),
        (["v=spf1 mx -all", "v=spf1 -all"], "none"),
        (["v=spf1 ip4:8.8.8.8 -all exp=why.shop.com"], "strict"),
        (["v=spf1 redirect=_spf.elsewhere.com"], "strict"),
        (["v=spf1 redirect=_spf.nowhere.com"], "none"),
        (["v=spf1 redirect=_spf.parked.com"], "denies_all"),
        (["v=spf1 mx redirect=_spf.parked.com"], "strict"),
        (["v=spf1 redirect=Shop.com."], None),
        (["v=spf1 -all a"], "denies_all"),
        (["v=spf1x", "v=spf1y", "v=spf1z", "v=spf12", "v=spf1 mx -all"], "strict"),
        (["v=spf1 redirect=%{i}.elsewhere.com"], "soft"),
        (["v=spf1 a:mail.shop.com/24//64 mx/24 ptr exists:%{i}.shop.com -all"], "strict"),
        (["v=spf1 +ip4:8.8.8.8 ?ip6:2606:4700::/32 ~include:_spf.elsewhere.com -all"], "strict"),
        (["v=spf1 mx exp=why.shop.com x-owner_1.2=jane ip4=8.8.8.8 -all"], "strict"),
        (["v=spf1 mx ip:8.8.8.8 -all"], "none"),
        (["v=spf1 mx ipv4:8.8.8.8 -all"], "none"),
        (["v=spf1 include: _spf.elsewhere.com -all"], "none"),
        (["v=spf1 mx -all 8.8.8.8"], "none"),
        (["v=spf1 mx -all;"], "none"),
        (["v=spf1 mx -x=y -all"], "none"),
        (["v=spf1 mxx redirect=_spf.elsewhere.com"], "none"),
        (["v=spf1 redirect=_spf.wrong.com"], "none"),
    ],
)
def test_spf_policy_is_classified(
    engine: Engine, fake_dns: FakeDns, spf: list[str], expected: str | None
) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_records("_spf.elsewhere.com", TXT='"v=spf1 mx -all"')
    fake_dns.add_records("_spf.parked.com", TXT='"v=spf1 -all"')
    fake_dns.add_records("_spf.wrong.com", TXT='"v=spf1 mx spf.wrong.com -all"')
    if spf:
        fake_dns.add_records("shop.com", TXT=[f'"{text}"' for text in spf])
    assert engine.check("jane@shop.com").document()["domain_auth"]["spf"] == expected


def test_txt_record_in_several_strings_is_joined(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_records("shop.com", TXT='"v=spf1 ip4:8.8." "8.8 -all"')
    assert engine.check("jane@shop.com").document()["domain_auth"]["spf"] == "strict"


def test_failed_policy_queries_are_null_and_do_not_delay_the_verdict(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.set_behavior("shop.com", "TXT", silence)
    fake_dns.set_behavior("_dmarc.shop.com", "TXT", servfail)
    finding = engine.check("jane@shop.com")
    assert finding.reason == "domain_accepts_mail"
    assert finding.document()["domain_auth"] == {"spf": None, "dmarc": None}


def test_domain_with_other_records_exists_when_the_mx_query_fails(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_records("shop.com", TXT='"hello"')
    fake_dns.set_behavior("shop.com", MX, servfail)
    assert check_dns(engine) == expected("unknown", "dns_failure", accepts=None, null_mx=None)


def test_silent_hosts_leave_time_for_the_remaining_hosts(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", MX=[f"{index} mx{index}.shop.com." for index in range(10)])
    for index in range(9):
        fake_dns.set_behavior(f"mx{index}.shop.com", A, silence)
    fake_dns.add_records("mx9.shop.com", A="8.8.8.8")
    assert check_dns(engine) == DELIVERABLE


def test_silent_a_query_does_not_delay_the_aaaa_fallback(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", AAAA="2606:4700::1")
    fake_dns.set_behavior("shop.com", A, silence)
    finding = engine.check("jane@shop.com")
    assert (finding.reason, finding.route.fallback) == ("no_mx_record", "aaaa")


def test_one_public_address_among_thousands_is_found(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    private = [f"10.0.{number // 250}.{number % 250}" for number in range(1_500)]
    fake_dns.add_records("shop.com", MX="1 mx.shop.com.")
    fake_dns.add_records("mx.shop.com", A=[*private, "8.8.8.8"])
    assert check_dns(patient_engine) == DELIVERABLE


def test_reply_with_too_many_records_is_a_failure(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    addresses = [f"10.{number // 250}.1.{number % 250}" for number in range(4_000)]
    fake_dns.add_records("shop.com", MX="1 mx.shop.com.")
    fake_dns.add_records("mx.shop.com", A=addresses)
    assert check_dns(patient_engine) == expected("unknown", "dns_failure", accepts=None)


def test_large_reply_with_alias_and_glue_is_parsed() -> None:
    """The reply is large, but within the limits."""

    def with_glue(query: dns.message.Message) -> dns.message.Message:
        message = dns.message.make_response(query)
        message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "CNAME", "hosts.com."))
        hosts = [f"{number} mx{number}.hosts{number}.com." for number in range(100)]
        message.answer.append(dns.rrset.from_text("hosts.com.", 60, "IN", "MX", *hosts))
        for number in range(100):
            glue = (f"mx{number}.hosts{number}.com.", 60, "IN", "A", "8.8.8.8")
            message.additional.append(dns.rrset.from_text(*glue))
        return message

    query = dns.message.make_query("shop.com", "MX")
    reply = parse_reply(with_glue(query).to_wire(), Query("shop.com", "MX"))
    assert reply is not None
    assert (reply.outcome, len(reply.records)) == (Outcome.FOUND, 100)


def test_contradictory_nxdomain_gives_no_verdict(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", TXT='"hello"')
    fake_dns.set_behavior("shop.com", A, reply_with_code(dns.rcode.NXDOMAIN))
    assert check_dns(engine) == expected("unknown", "dns_failure", accepts=None)
