"""What the DNS says of a domain, and what that makes of an address there."""

from typing import Any

import dns.message
import dns.rcode
import dns.rrset
import pytest

from tests.servers.dns import World, servfail, silence, with_code
from validation.engine.check import Engine
from validation.engine.dns.messages import Outcome, Question, read_reply

pytestmark = pytest.mark.anywhere

MX, A, AAAA = "MX", "A", "AAAA"


@pytest.fixture
def engine(patient: Engine) -> Engine:
    return patient


def facts(engine: Engine, email: str = "jane@shop.com") -> dict[str, Any]:
    """Those fields of a result that the DNS decides."""
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


def test_a_domain_with_a_mail_host_accepts_mail(engine: Engine, world: World) -> None:
    world.takes_mail("shop.com")
    assert facts(engine) == DELIVERABLE


def test_a_domain_that_does_not_exist_is_not_found(engine: Engine) -> None:
    assert facts(engine) == expected(
        "undeliverable", "domain_not_found", exists=False, accepts=False
    )


def test_a_null_mx_needs_no_further_question(engine: Engine, world: World) -> None:
    world.has("shop.com", MX="0 .", A="8.8.8.8")
    assert facts(engine) == expected("undeliverable", "null_mx", accepts=False, null_mx=True)
    assert ("shop.com", A) not in world.asked
    assert engine.check("jane@shop.com").document()["mx"]["records"] == []


def test_the_root_beside_other_hosts_is_no_host(engine: Engine, world: World) -> None:
    world.has("shop.com", MX=["0 .", "10 mx.shop.com."])
    world.has("mx.shop.com", A="8.8.8.8")
    assert facts(engine) == DELIVERABLE
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
def test_without_mx_the_domain_is_its_own_host(
    engine: Engine, world: World, records: dict[str, str], fallback: str
) -> None:
    world.has("shop.com", **records)
    assert facts(engine) == expected("risky", "no_mx_record", fallback=fallback)
    assert engine.check("jane@shop.com").document()["mx"]["provider"] is None


@pytest.mark.parametrize("text", ["hello", "v=spf1 -all"])
def test_a_domain_without_mx_and_address_has_no_mail_server(
    engine: Engine, world: World, text: str
) -> None:
    world.has("shop.com", TXT=f'"{text}"')
    assert facts(engine) == NO_SERVER


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
def test_each_mail_host_counts(
    engine: Engine, world: World, hosts: dict[str, str], result: dict[str, Any]
) -> None:
    world.has("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    for name, address in hosts.items():
        world.has(f"{name}.shop.com", A=address)
    assert facts(engine) == result


@pytest.mark.parametrize("kind", [A, AAAA])
def test_a_host_that_cannot_be_told_of_leaves_no_definite_verdict(
    engine: Engine, world: World, kind: str
) -> None:
    world.has("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    world.has("one.shop.com", A="10.0.0.1")
    world.behaves("two.shop.com", kind, servfail)
    assert facts(engine) == expected("unknown", "dns_failure", accepts=None)


def test_one_good_host_is_enough_whatever_the_others_say(engine: Engine, world: World) -> None:
    world.has("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    world.behaves("one.shop.com", A, silence)
    world.has("two.shop.com", A="8.8.8.8")
    world.behaves("two.shop.com", AAAA, servfail)
    assert facts(engine) == DELIVERABLE


@pytest.mark.parametrize("host", ["8.8.8.8.", "127.0.0.1."])
def test_the_text_of_an_address_is_no_mail_host(engine: Engine, world: World, host: str) -> None:
    world.has("shop.com", MX=f"10 {host}")
    assert facts(engine) == NO_SERVER
    assert not any(name == host.rstrip(".") for name, _ in world.asked)


def test_a_mail_host_may_be_an_alias(engine: Engine, world: World) -> None:
    world.has("shop.com", MX="10 mx.shop.com.")
    world.has("mx.shop.com", CNAME="host.elsewhere.com.")
    world.has("host.elsewhere.com", A="8.8.8.8")
    assert facts(engine) == DELIVERABLE


def test_a_domain_may_be_an_alias(engine: Engine, world: World) -> None:
    world.has("shop.com", CNAME="elsewhere.com.")
    world.takes_mail("elsewhere.com")
    assert facts(engine) == DELIVERABLE


def test_aliases_in_a_circle_are_a_failure(engine: Engine, world: World) -> None:
    world.has("shop.com", CNAME="elsewhere.com.")
    world.has("elsewhere.com", CNAME="shop.com.")
    assert facts(engine) == FAILURE | {"evidence": "syntax"}


def test_a_hundred_hosts_of_which_only_the_last_works_are_unknown(
    engine: Engine, world: World
) -> None:
    """Ten are examined, and the others may have an address."""
    world.has("shop.com", MX=[f"{place} mx{place}.shop.com." for place in range(100)])
    world.has("mx99.shop.com", A="8.8.8.8")
    assert facts(engine) == expected("unknown", "dns_failure", accepts=None)


def test_a_thousand_hosts_end_in_a_bounded_number_of_questions(
    patient: Engine, world: World
) -> None:
    """Those that were not looked at may be good: that is no definite verdict."""
    world.has("shop.com", MX=[f"{place} mx{place}.shop.com." for place in range(1_000)])
    assert facts(patient) == expected("unknown", "dns_failure", accepts=None)
    assert world.messages <= 60
    assert len(patient.check("jane@shop.com").document()["mx"]["records"]) == 100


def test_records_are_told_in_the_order_of_their_preference(engine: Engine, world: World) -> None:
    world.has("shop.com", MX=["20 B.shop.com.", "5 c.shop.com.", "20 a.shop.com."])
    world.has("c.shop.com", A="8.8.8.8")
    records = engine.check("jane@shop.com").document()["mx"]["records"]
    assert [(one["preference"], one["host"]) for one in records] == [
        (5, "c.shop.com"),
        (20, "a.shop.com"),
        (20, "b.shop.com"),
    ]


@pytest.mark.parametrize(
    ("spf", "told"),
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
        (["v=spf1 redirect=_spf.nobody.com"], "denies_all"),
        (["v=spf1 mx redirect=_spf.nobody.com"], "strict"),
        (["v=spf1 redirect=Shop.com."], None),
        (["v=spf1 -all a"], "denies_all"),
        (["v=spf1x", "v=spf1y", "v=spf1z", "v=spf12", "v=spf1 mx -all"], "strict"),
        (["v=spf1 redirect=%{i}.elsewhere.com"], "soft"),
    ],
)
def test_what_spf_asks_for(engine: Engine, world: World, spf: list[str], told: str | None) -> None:
    world.takes_mail("shop.com")
    world.has("_spf.elsewhere.com", TXT='"v=spf1 mx -all"')
    world.has("_spf.nobody.com", TXT='"v=spf1 -all"')
    if spf:
        world.has("shop.com", TXT=[f'"{text}"' for text in spf])
    assert engine.check("jane@shop.com").document()["domain_auth"]["spf"] == told


def test_a_record_in_pieces_is_one_text(engine: Engine, world: World) -> None:
    world.takes_mail("shop.com")
    world.has("shop.com", TXT='"v=spf1 ip4:8.8." "8.8 -all"')
    assert engine.check("jane@shop.com").document()["domain_auth"]["spf"] == "strict"


@pytest.mark.parametrize(
    ("own", "organisation", "told"),
    [
        ("", "", "none"),
        ("v=DMARC1; p=reject", "", "reject"),
        ("v=DMARC1;p=QUARANTINE;rua=mailto:a@b.co", "", "quarantine"),
        ("v=DMARC1; p=none", "v=DMARC1; p=reject", "none"),
        ("", "v=DMARC1; p=reject", "reject"),
        ("", "v=DMARC1; p=reject; sp=none", "none"),
        ("V=DMARC1; P=reject", "", "reject"),
        ("v=dmarc1; p=reject", "", "none"),
        ("v = DMARC1 ; p = reject", "", "reject"),
        ("p=reject; v=DMARC1", "", "none"),
        ("v=DMARC1; p=whatever", "", "none"),
    ],
)
def test_what_dmarc_asks_for(
    engine: Engine, world: World, own: str, organisation: str, told: str
) -> None:
    world.takes_mail("mail.shop.co.uk")
    for name, text in (("mail.shop.co.uk", own), ("shop.co.uk", organisation)):
        if text:
            world.has(f"_dmarc.{name}", TXT=f'"{text}"')
    assert engine.check("jane@mail.shop.co.uk").document()["domain_auth"]["dmarc"] == told


def test_of_two_dmarc_records_none_counts_nor_the_organisations(
    engine: Engine, world: World
) -> None:
    world.takes_mail("mail.shop.com")
    world.has("_dmarc.mail.shop.com", TXT=['"v=DMARC1; p=reject"', '"v=DMARC1; p=quarantine"'])
    world.has("_dmarc.shop.com", TXT='"v=DMARC1; p=reject"')
    assert engine.check("jane@mail.shop.com").route.dmarc == "none"


def test_policies_that_cannot_be_learned_are_null_and_hold_up_no_verdict(
    engine: Engine, world: World
) -> None:
    world.takes_mail("shop.com")
    world.behaves("shop.com", "TXT", silence)
    world.behaves("_dmarc.shop.com", "TXT", servfail)
    finding = engine.check("jane@shop.com")
    assert finding.reason == "domain_accepts_mail"
    assert finding.document()["domain_auth"] == {"spf": None, "dmarc": None}


def test_a_domain_whose_other_records_answer_exists(engine: Engine, world: World) -> None:
    world.has("shop.com", TXT='"hello"')
    world.behaves("shop.com", MX, servfail)
    assert facts(engine) == expected("unknown", "dns_failure", accepts=None, null_mx=None)


def test_silent_hosts_leave_time_for_those_after_them(engine: Engine, world: World) -> None:
    world.has("shop.com", MX=[f"{place} mx{place}.shop.com." for place in range(10)])
    for place in range(9):
        world.behaves(f"mx{place}.shop.com", A, silence)
    world.has("mx9.shop.com", A="8.8.8.8")
    assert facts(engine) == DELIVERABLE


def test_a_silent_a_record_does_not_hold_up_the_other_kind(engine: Engine, world: World) -> None:
    world.has("shop.com", AAAA="2606:4700::1")
    world.behaves("shop.com", A, silence)
    finding = engine.check("jane@shop.com")
    assert (finding.reason, finding.route.fallback) == ("no_mx_record", "aaaa")


def test_one_public_address_among_thousands_is_seen(patient: Engine, world: World) -> None:
    private = [f"10.0.{number // 250}.{number % 250}" for number in range(1_500)]
    world.has("shop.com", MX="1 mx.shop.com.")
    world.has("mx.shop.com", A=[*private, "8.8.8.8"])
    assert facts(patient) == DELIVERABLE


def test_more_records_than_anybody_needs_are_not_read(patient: Engine, world: World) -> None:
    many = [f"10.{number // 250}.1.{number % 250}" for number in range(4_000)]
    world.has("shop.com", MX="1 mx.shop.com.")
    world.has("mx.shop.com", A=many)
    assert facts(patient) == expected("unknown", "dns_failure", accepts=None)


def test_many_hosts_behind_an_alias_with_their_addresses_are_read() -> None:
    """Large, and not too large."""

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
    reply = read_reply(with_glue(query).to_wire(), Question("shop.com", "MX"))
    assert reply is not None
    assert (reply.outcome, len(reply.records)) == (Outcome.FOUND, 100)


def test_a_name_that_is_gone_for_one_question_alone_is_no_verdict(
    engine: Engine, world: World
) -> None:
    world.has("shop.com", TXT='"hello"')
    world.behaves("shop.com", A, with_code(dns.rcode.NXDOMAIN))
    assert facts(engine) == expected("unknown", "dns_failure", accepts=None)
