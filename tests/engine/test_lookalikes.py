"""Domains without mailboxes that imitate famous ones are named, which changes no verdict."""

import pytest

from engine.check import Engine
from engine.dns.mail_route import MailHost, MailRoute
from engine.domain_data import DomainData, read_data_file
from engine.lookalikes import find_shape

DATA = DomainData()
NO_MAIL = MailRoute(domain_exists=True, accepts_mail=False, null_mx=True, problem="null_mx")
NOT_FOUND = MailRoute(False, False, False, "domain_not_found")
PARKED = MailRoute(True, True, False, hosts=(MailHost(0, "park-mx.above.com"),))
WITH_MAIL = MailRoute(True, True, False, hosts=(MailHost(0, "mx.rnicrosoft.com"),))


@pytest.mark.parametrize(
    ("domain", "famous"),
    [
        ("rnicrosoft.com", "microsoft.com"),
        ("micros0ft.com", "microsoft.com"),
        ("paypa1.com", "paypal.com"),
        ("paypai.com", "paypal.com"),
        ("vvalmart.com", "walmart.com"),
        ("clropbox.com", "dropbox.com"),
        ("gmáil.com", "gmail.com"),
        ("\u0430\u0440\u0440\u04cf\u0435.com", "apple.com"),
        ("microsoft.com", None),
        ("rnicrosoft.net", None),
        ("login.rnicrosoft.com", None),
        ("disco.com", None),
        ("a01.com", None),
        ("shop.com", None),
    ],
)
def test_domain_of_the_same_shape_is_a_lookalike(domain: str, famous: str | None) -> None:
    assert DATA.find_lookalike(domain) == famous


@pytest.mark.parametrize(
    "name",
    [
        *("famous_domains", "typo_targets", "free_providers", "relays", "not_typos"),
        *("never_disposable", "allowlisted"),
    ],
)
def test_known_domain_is_no_lookalike(name: str) -> None:
    domains = read_data_file(name).entries
    assert [domain for domain in domains if DATA.find_lookalike(domain)] == []


def test_every_letter_of_another_script_has_a_latin_shape() -> None:
    assert find_shape("\u0441\u0455\u0501\u03bd\u0585\u0131\u0142.com") == find_shape("csdvoil.com")


@pytest.mark.parametrize(
    ("route", "famous"),
    [
        (NO_MAIL, "microsoft.com"),
        (NOT_FOUND, "microsoft.com"),
        (PARKED, "microsoft.com"),
        (WITH_MAIL, None),
        (MailRoute(problem="dns_timeout"), None),
    ],
)
def test_only_a_domain_without_mailboxes_is_a_lookalike(
    engine: Engine, route: MailRoute, famous: str | None
) -> None:
    facts = {domain: engine.describe(domain, route) for domain in ("rnicrosoft.com", "other.com")}
    finding = engine.check_offline("jane@rnicrosoft.com", facts)
    assert finding.document()["lookalike_of"] == famous
    other = engine.check_offline("jane@other.com", facts)
    assert (finding.reasons, finding.score) == (other.reasons, other.score)


def test_lookalike_in_another_script_is_recognized_by_its_ascii_form(engine: Engine) -> None:
    domain = "xn--80ak6aa92e.com"
    facts = {domain: engine.describe(domain, NOT_FOUND)}
    assert engine.check_offline(f"jane@{domain}", facts).lookalike_of == "apple.com"
