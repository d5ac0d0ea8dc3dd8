"""Complete findings: the reasons, their precedence, and the fields derived from them."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engine.check import Engine
from engine.dns.budget import SIGN_UP
from engine.dns.resolver import Lookup, Resolver
from engine.domain_data import StaffDomains
from engine.verdicts.reasons import REASONS, VERDICT_BY_REASON, Verdict
from engine.verdicts.score import MIN_SCORES, WEIGHTS, compute_score
from tests.servers.dns import FakeDns, silence, wildcard


def add_strict_domains(fake_dns: FakeDns, *domains: str) -> None:
    """Add domains with strict policies, so that only the reasons lower the score."""
    for domain in domains:
        fake_dns.add_mail_domain(domain)
        fake_dns.add_records(domain, TXT='"v=spf1 mx -all"')
        fake_dns.add_records(f"_dmarc.{domain}", TXT='"v=DMARC1; p=reject"')


@pytest.mark.parametrize(
    ("email", "reasons", "score", "accept"),
    [
        ("jane@shop.com", ("domain_accepts_mail",), 85, True),
        ("jane.doe@gmail.com", ("domain_accepts_mail",), 85, True),
        ("jane@duck.com", ("domain_accepts_mail",), 80, True),
        ("jane@mailinator.com", ("disposable",), 10, False),
        ("jane@any.mailinator.com", ("disposable",), 10, False),
        ("info@shop.com", ("role_account",), 55, True),
        ("Info+x@shop.com", ("role_account",), 55, True),
        ("no-reply@shop.com", ("no_reply",), 25, False),
        ("no-reply@yahoo.com", ("no_reply",), 25, False),
        ("customer-service@yahoo.com", ("role_account",), 55, True),
        ("jörg@shop.com", ("smtputf8_required",), 60, True),
        ("j\u0430ne@shop.com", ("mixed_script", "smtputf8_required"), 11, False),
        ("info@gmial.com", ("possible_typo", "role_account"), 21, True),
        ("info@mailinator.com", ("disposable", "role_account"), 10, False),
        ("info@nowhere.com", ("domain_not_found", "role_account"), 0, False),
        ("info@example.com", ("reserved_domain", "role_account"), 0, False),
        ("jane@parked.com", ("parked",), 15, True),
    ],
)
def test_all_reasons_are_reported_and_the_highest_precedence_decides(
    engine: Engine,
    fake_dns: FakeDns,
    email: str,
    reasons: tuple[str, ...],
    score: int,
    accept: bool,
) -> None:
    hosts = "shop.com gmail.com yahoo.com gmial.com duck.com mailinator.com any.mailinator.com"
    add_strict_domains(fake_dns, *hosts.split(), "parked.com")
    fake_dns.add_records("parked.com", MX="0 park-mx.above.com.")
    fake_dns.add_records("park-mx.above.com", A="8.8.4.4")
    finding = engine.check(email)
    assert (finding.reasons, finding.score, finding.accept_for_signup) == (reasons, score, accept)


@pytest.mark.parametrize(
    ("domain", "host", "reasons", "disposable_by", "suggestion"),
    [
        ("shop.com", "mail.mailinator.com", ("disposable",), "mx", None),
        ("mailinator.com", "mail.mailinator.com", ("disposable",), "domain", None),
        ("shop.com", "park-mx.above.com", ("parked",), None, None),
        ("gmial.com", "park-mx.above.com", ("parked", "possible_typo"), None, "jane@gmail.com"),
        ("gmqx.de", "mx.gmqx.de", ("domain_accepts_mail",), None, None),
        (*("gmqx.de", "park-mx.above.com"), *(("parked", "possible_typo"), None, "jane@gmx.de")),
        ("yopmail.com", "park-mx.above.com", ("disposable", "parked"), "domain", None),
    ],
)
def test_mail_host_reveals_disposable_and_parked_domains(
    engine: Engine,
    fake_dns: FakeDns,
    domain: str,
    host: str,
    reasons: tuple[str, ...],
    disposable_by: str | None,
    suggestion: str | None,
) -> None:
    fake_dns.add_mail_domain(domain, host)
    finding = engine.check(f"jane@{domain}")
    document = finding.document()
    assert (finding.reasons, finding.did_you_mean) == (reasons, suggestion)
    assert document["lists"]["disposable_by"] == disposable_by
    assert document["checks"]["disposable"] is (disposable_by is not None)


@pytest.mark.parametrize(
    ("records", "reasons"),
    [
        ({"A": "64.70.19.203", "MX": "1 mail.hope-mail.com."}, ("parked",)),
        ({"A": "45.79.222.138"}, ("no_mx_record",)),
        ({"A": "127.0.53.53", "MX": "10 your-dns.attention.ws."}, ("unroutable_mail_server",)),
    ],
)
def test_name_that_only_a_registry_wildcard_answers_is_not_deliverable(
    engine: Engine, fake_dns: FakeDns, records: dict[str, str], reasons: tuple[str, ...]
) -> None:
    """As in .ws, in .ph and .vg, and in new top-level domains that warn of collisions."""
    fake_dns.zone_behaviors["ws"] = wildcard(**records)
    fake_dns.add_records("mail.hope-mail.com", A="64.70.19.203")
    assert engine.check("jane@nowhere.ws").reasons == reasons


def test_disposable_mail_host_decides_even_if_its_address_cannot_be_looked_up(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_records("shop.com", MX="0 mail.mailinator.com.")
    fake_dns.set_behavior("mail.mailinator.com", "A", silence)
    finding = engine.check("jane@shop.com")
    assert (finding.reason, finding.checks["accepts_mail"]) == ("disposable", None)


def test_sign_up_check_recognizes_a_disposable_mail_host(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com", "mail.mailinator.com")
    assert engine.check("jane@shop.com", scope=SIGN_UP).checks["disposable"]


# Without the checks, and the versions of the domain data.
DOCUMENTED_EXAMPLE = {
    "email": "Jane.Doe+news@GMIAL.com",
    "normalized": "Jane.Doe+news@gmial.com",
    "canonical": "jane.doe+news@gmial.com",
    "verdict": "risky",
    "reason": "possible_typo",
    "reasons": ["possible_typo"],
    "score": 35,
    "evidence": "dns",
    "safe_to_send": False,
    "accept_for_signup": True,
    "did_you_mean": "Jane.Doe+news@gmail.com",
    "lookalike_of": None,
    "retry_after_s": None,
    "local_part": "Jane.Doe+news",
    "tag": "news",
    "domain": "gmial.com",
    "ascii_domain": "gmial.com",
    "registrable_domain": "gmial.com",
    "syntax_error": None,
    "mx": {
        "provider": "other",
        "fallback": None,
        "gateway": False,
        "ipv4": True,
        "records": [{"preference": 5, "host": "mx.gmial.com"}],
    },
    "domain_auth": {"spf": "strict", "dmarc": "reject"},
    "smtp": None,
    "account_list": None,
}


def test_result_matches_the_documented_example(engine: Engine, fake_dns: FakeDns) -> None:
    add_strict_domains(fake_dns, "gmial.com")
    fake_dns.add_records("gmial.com", MX="5 mx.gmial.com.")
    document = engine.check("Jane.Doe+news@GMIAL.com").document()
    checks = document.pop("checks")
    versions = engine.domain_data.versions
    lists = {"disposable": versions["disposable"], "disposable_by": None}
    assert document == {**DOCUMENTED_EXAMPLE, "lists": lists}
    assert {name for name, value in checks.items() if value is True} == {
        *("syntax", "domain_exists", "accepts_mail", "has_tag")
    }
    assert {name for name, value in checks.items() if value is None} == {
        *("accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled")
    }


@pytest.mark.parametrize("mailbox", ["Asdf", "no-email+news", "test"])
def test_placeholder_changes_neither_verdict_nor_score(
    engine: Engine, fake_dns: FakeDns, mailbox: str
) -> None:
    add_strict_domains(fake_dns, "shop.com")
    finding = engine.check(f"{mailbox}@shop.com")
    assert (finding.reasons, finding.score) == (("domain_accepts_mail",), 85)
    assert finding.document()["checks"]["placeholder"] is True


def test_reserved_domain_is_not_looked_up(engine: Engine, fake_dns: FakeDns) -> None:
    document = engine.check("jane@a.example.com").document()
    assert (document["reason"], document["evidence"]) == ("reserved_domain", "syntax")
    assert document["registrable_domain"] == "example.com"
    assert document["checks"]["domain_exists"] is None
    assert not fake_dns.queries


def test_unicode_and_ascii_forms_of_a_domain_give_the_same_result(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    add_strict_domains(fake_dns, "xn--bcher-kva.de")
    unicode_form, ascii_form = (
        patient_engine.check(email).document()
        for email in ("jane@bücher.de", "jane@XN--BCHER-KVA.de")
    )
    different = {name for name in unicode_form if unicode_form[name] != ascii_form[name]}
    assert different == {"email"}
    assert (unicode_form["domain"], unicode_form["ascii_domain"]) == (
        "bücher.de",
        "xn--bcher-kva.de",
    )
    assert fake_dns.queries["xn--bcher-kva.de", "MX"] == 1


def test_staff_domains_can_change_at_runtime(server: str, fake_dns: FakeDns) -> None:
    nothing, denied = StaffDomains(), StaffDomains(denied=frozenset({"shop.com"}))
    current = [nothing]
    engine = Engine(Resolver([server], seconds=20), staff_domains=lambda: current[0])
    add_strict_domains(fake_dns, "shop.com")
    reasons = []
    for current[0] in (nothing, denied, nothing):
        reasons.append(engine.check("jane@shop.com").reason)
    assert reasons == ["domain_accepts_mail", "disposable", "domain_accepts_mail"]
    assert fake_dns.queries["shop.com", "MX"] == 1


def test_internal_error_is_unknown_and_logged_without_the_address(
    caplog: pytest.LogCaptureFixture, server: str
) -> None:
    def broken() -> StaffDomains:
        raise RuntimeError

    engine = Engine(Resolver([server], seconds=1), staff_domains=broken)
    with caplog.at_level(logging.ERROR):
        finding = engine.check("jane@shop.com")
    assert (finding.verdict, finding.reason) == ("unknown", "check_failed")
    assert "The engine failed" in caplog.text
    assert finding.document()["checks"]["syntax"] is None


@pytest.mark.parametrize(
    ("reason", "evidence"),
    [
        *((reason, "dns") for reason in sorted(VERDICT_BY_REASON) if reason != "mailbox_accepted"),
        *(
            (reason, "smtp")
            for reason in sorted(VERDICT_BY_REASON)
            if reason != "domain_accepts_mail"
        ),
    ],
)
def test_scores_stay_within_the_range_of_their_verdict(reason: str, evidence: str) -> None:
    verdict = VERDICT_BY_REASON[reason]
    others = [fact for fact in WEIGHTS if fact not in REASONS[Verdict.RISKY]]
    scores = [compute_score(verdict, evidence, (reason, *facts)) for facts in ((), others)]
    limits = {
        Verdict.UNDELIVERABLE: (0, 0),
        Verdict.RISKY: (MIN_SCORES[Verdict.RISKY], 69),
        Verdict.DELIVERABLE: (MIN_SCORES[Verdict.DELIVERABLE], 85 if evidence == "dns" else 100),
    }
    if verdict == Verdict.UNKNOWN:
        assert scores == [None, None]
    else:
        lowest, highest = limits[verdict]
        assert all(score is not None and lowest <= score <= highest for score in scores)


def test_staff_change_during_a_lookup_applies_to_its_result(server: str, fake_dns: FakeDns) -> None:
    add_strict_domains(fake_dns, "shop.com")
    current = [StaffDomains()]

    def deny_during_lookup() -> None:
        current[0] = StaffDomains(denied=frozenset({"shop.com"}))

    engine = Engine(
        Resolver([server], seconds=1),
        staff_domains=lambda: current[0],
        before_waiting=deny_during_lookup,
    )
    assert engine.check("jane@shop.com").reason == "disposable"


def test_waiting_check_outlives_the_stopped_check_it_waits_for() -> None:
    class Stopped(Resolver):
        def start_lookup(self, *arguments: Any) -> Lookup:
            is_running.set()
            stop.wait(60)
            raise SystemExit

    is_running, stop = threading.Event(), threading.Event()
    begun = threading.Semaphore(0)
    engine = Engine(Stopped(["127.0.0.1:9"], seconds=60), before_waiting=begun.release)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(engine.check, "jane@shop.com")
        assert is_running.wait(60)
        second = pool.submit(engine.check, "joe@shop.com")
        assert begun.acquire(timeout=60)
        assert begun.acquire(timeout=60)
        # From there, it waits within microseconds.
        time.sleep(0.5)
        stop.set()
        assert isinstance(first.exception(), SystemExit)
        assert second.result().reason == "check_failed"
