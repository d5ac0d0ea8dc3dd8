"""A whole finding: which reasons there are, which decides, and what follows from them."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.servers.dns import World
from validation.engine.check import Engine
from validation.engine.dns.resolver import Inquiry, Resolver
from validation.engine.domain_data import StaffDomains
from validation.engine.reasons import PRECEDENCE, REASONS, VERDICT_OF, Verdict
from validation.engine.score import LOWEST, WEIGHTS, score_of
from validation.engine.verdict import Finding

pytestmark = pytest.mark.anywhere


def takes_mail_well(world: World, *domains: str) -> None:
    """With strict policies, so that nothing but the reasons lowers a score."""
    for domain in domains:
        world.takes_mail(domain)
        world.has(domain, TXT='"v=spf1 mx -all"')
        world.has(f"_dmarc.{domain}", TXT='"v=DMARC1; p=reject"')


@pytest.mark.parametrize(
    ("email", "reasons", "score", "accept"),
    [
        ("jane@shop.com", ("domain_accepts_mail",), 85, True),
        ("jane@gmail.com", ("domain_accepts_mail",), 85, True),
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
    ],
)
def test_all_reasons_are_told_and_the_gravest_decides(
    engine: Engine,
    world: World,
    email: str,
    reasons: tuple[str, ...],
    score: int,
    accept: bool,
) -> None:
    takes_mail_well(
        world,
        "shop.com",
        "gmail.com",
        "yahoo.com",
        "gmial.com",
        "duck.com",
        "mailinator.com",
        "any.mailinator.com",
    )
    finding = engine.check(email)
    assert (finding.reasons, finding.score, finding.accept_for_signup) == (reasons, score, accept)


def test_the_example_of_the_contract(engine: Engine, world: World) -> None:
    takes_mail_well(world, "gmial.com")
    world.has("gmial.com", MX="5 mx.gmial.com.")
    document = engine.check("Jane.Doe+news@GMIAL.com").document()
    checks = document.pop("checks")
    assert document == {
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
            "records": [{"preference": 5, "host": "mx.gmial.com"}],
        },
        "domain_auth": {"spf": "strict", "dmarc": "reject"},
        "smtp": None,
        "lists": {"disposable": engine.lists.versions["disposable"]},
    }
    assert {name for name, value in checks.items() if value is True} == {
        *("syntax", "domain_exists", "accepts_mail", "has_tag")
    }
    assert {name for name, value in checks.items() if value is None} == {
        *("accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled")
    }


def test_a_reserved_name_is_not_asked_about(engine: Engine, world: World) -> None:
    document = engine.check("jane@a.example.com").document()
    assert (document["reason"], document["evidence"]) == ("reserved_domain", "syntax")
    assert document["registrable_domain"] == "example.com"
    assert document["checks"]["domain_exists"] is None
    assert not world.asked


def test_an_international_domain_is_one_however_it_is_written(engine: Engine, world: World) -> None:
    takes_mail_well(world, "xn--bcher-kva.de")
    one, other = (
        engine.check(email).document() for email in ("jane@bücher.de", "jane@XN--BCHER-KVA.de")
    )
    assert {name for name in one if one[name] != other[name]} == {"email"}
    assert (one["domain"], one["ascii_domain"]) == ("bücher.de", "xn--bcher-kva.de")
    assert world.asked["xn--bcher-kva.de", "MX"] == 1


def test_staff_add_and_take_away_domains_while_it_runs(server: str, world: World) -> None:
    nobody, denied = StaffDomains(), StaffDomains(denied=frozenset({"shop.com"}))
    said = [nobody]
    engine = Engine(Resolver([server], seconds=1), staff_domains=lambda: said[0])
    takes_mail_well(world, "shop.com")
    reasons = []
    for said[0] in (nobody, denied, nobody):
        reasons.append(engine.check("jane@shop.com").reason)
    assert reasons == ["domain_accepts_mail", "disposable", "domain_accepts_mail"]
    assert world.asked["shop.com", "MX"] == 1


def test_what_fails_inside_is_unknown_and_logged_without_the_address(
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


def test_precedence_is_that_of_the_contract() -> None:
    told = (
        "invalid_syntax > reserved_domain > domain_not_found > null_mx > no_mail_server > "
        "unroutable_mail_server > mailbox_not_found > mailbox_disabled > disposable > accept_all > "
        "mailbox_full > possible_typo > mixed_script > role_account > no_reply > "
        "smtputf8_required > no_mx_record"
    )
    assert list(PRECEDENCE[:17]) == told.split(" > ")


@pytest.mark.parametrize(
    ("reason", "evidence"),
    [
        *((reason, "dns") for reason in sorted(VERDICT_OF) if reason != "mailbox_accepted"),
        *((reason, "smtp") for reason in sorted(VERDICT_OF) if reason != "domain_accepts_mail"),
    ],
)
def test_scores_stay_within_their_verdict(reason: str, evidence: str) -> None:
    verdict = VERDICT_OF[reason]
    others = [one for one in WEIGHTS if one not in REASONS[Verdict.RISKY]]
    scores = [score_of(verdict, evidence, [reason, *some]) for some in ([], others)]
    limits = {
        Verdict.UNDELIVERABLE: (0, 0),
        Verdict.RISKY: (LOWEST[Verdict.RISKY], 69),
        Verdict.DELIVERABLE: (LOWEST[Verdict.DELIVERABLE], 85 if evidence == "dns" else 100),
    }
    if verdict == Verdict.UNKNOWN:
        assert scores == [None, None]
    else:
        lowest, highest = limits[verdict]
        assert all(score is not None and lowest <= score <= highest for score in scores)


def test_safe_to_send_is_claimed_by_a_mailbox_alone() -> None:
    said = {
        reason: Finding("a@b.co", (reason,), evidence).safe_to_send
        for reason, evidence in [
            ("mailbox_accepted", "smtp"),
            ("domain_accepts_mail", "dns"),
            ("dns_timeout", "syntax"),
            ("role_account", "dns"),
            ("null_mx", "dns"),
        ]
    }
    assert list(said.values()) == [True, None, None, False, False]


def test_what_staff_say_during_a_search_counts_in_its_answer(server: str, world: World) -> None:
    takes_mail_well(world, "shop.com")
    said = [StaffDomains()]

    def deny_meanwhile() -> None:
        said[0] = StaffDomains(denied=frozenset({"shop.com"}))

    engine = Engine(
        Resolver([server], seconds=1),
        staff_domains=lambda: said[0],
        before_waiting=deny_meanwhile,
    )
    assert engine.check("jane@shop.com").reason == "disposable"


def test_whoever_waits_does_not_share_the_end_of_whom_they_wait_for() -> None:
    class Stopped(Resolver):
        def inquiry(self, *arguments: Any) -> Inquiry:
            searching.set()
            stop.wait(10)
            raise SystemExit

    searching, stop = threading.Event(), threading.Event()
    engine = Engine(Stopped(["127.0.0.1:9"], seconds=5))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(engine.check, "jane@shop.com")
        searching.wait(10)
        second = pool.submit(engine.check, "joe@shop.com")
        time.sleep(0.1)
        stop.set()
        assert isinstance(first.exception(), SystemExit)
        assert second.result().reason == "check_failed"
