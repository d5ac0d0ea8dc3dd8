"""Which mistyped addresses get a suggestion, and which don't."""

import json

from engine.check import Engine
from engine.domain_data import DomainData
from engine.suggestions.suggest import suggest_domain
from tests.engine.tables import FOLDER, read_suggestions
from tests.servers.dns import FakeDns

DATA = DomainData()


def test_domains_without_mail_are_corrected_unless_they_are_ambiguous() -> None:
    expected = read_suggestions(accepts_mail=False)
    found = {typed: suggest_domain(typed, DATA, accepts_mail=False) for typed in expected}
    assert found == expected


def test_well_known_domain_is_never_corrected() -> None:
    for domain in DATA.free_providers | DATA.relays:
        assert suggest_domain(domain, DATA, accepts_mail=False) is None, domain


def test_domain_at_a_providers_own_hosts_is_not_corrected(
    engine: Engine, fake_dns: FakeDns
) -> None:
    """The mail host shows that the domain is Microsoft's own, though no data file lists it."""
    fake_dns.add_mail_domain("hotmaill.com", "hotmaill-com.olc.protection.outlook.com")
    assert engine.check("jane@hotmaill.com").did_you_mean is None


def test_nonexistent_typo_gets_a_suggestion_with_its_verdict(engine: Engine) -> None:
    finding = engine.check("jane@gmail.con")
    assert finding.reasons == ("domain_not_found", "possible_typo")
    assert finding.did_you_mean == "jane@gmail.com"


def test_invalid_syntax_is_repaired_only_when_certain() -> None:
    expected: dict[str, str | None] = json.loads((FOLDER / "suggestions/repairs.json").read_text())
    engine = Engine()
    findings = {text: engine.check(text) for text in expected}
    assert {text: finding.did_you_mean for text, finding in findings.items()} == expected
    assert {finding.reason for finding in findings.values()} == {"invalid_syntax"}


def test_suggestion_that_is_too_long_is_dropped(engine: Engine) -> None:
    """The corrected domain is one letter longer, which makes the address too long."""
    domain = f"{'b' * 62}.{'b' * 60}.{'b' * 60}.co.u"
    finding = engine.check(f"{'a' * 64}@{domain}")
    assert (finding.reason, finding.did_you_mean) == ("domain_not_found", None)
