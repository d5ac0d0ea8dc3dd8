"""Which domains that accept mail are typos of a provider, and which have another owner."""

import pytest

from engine.check import Engine
from engine.domain_data import DomainData
from engine.suggestions.suggest import suggest_domain
from tests.engine.suggestions.typing_errors import make_typos
from tests.engine.tables import read_suggestions
from tests.servers.dns import FakeDns

DATA = DomainData()
SUGGESTIONS = read_suggestions(accepts_mail=True)
BUSINESS_HOSTS = {
    "aspmx.l.google.com": "google",
    "gmaxil-com.mail.protection.outlook.com": "microsoft_365",
    "mx1.example.pphosted.com": "proofpoint",
    # Apple's hosts have the domains of iCloud+ customers as well.
    "mx01.mail.icloud.com": "apple",
}


def test_typos_of_distinctive_names_are_corrected_but_no_domain_of_another_owner() -> None:
    for accepts_mail in (True, None):
        assert {
            typed: suggest_domain(typed, DATA, accepts_mail=accepts_mail) for typed in SUGGESTIONS
        } == SUGGESTIONS
    for typed, meant in SUGGESTIONS.items():
        assert meant in (None, suggest_domain(typed, DATA, accepts_mail=False)), typed


@pytest.mark.parametrize("provider", BUSINESS_HOSTS.values())
def test_domain_whose_owner_pays_for_mail_is_corrected_only_for_a_slip_in_a_famous_name(
    provider: str,
) -> None:
    suggestions = {
        domain: suggest_domain(domain, DATA, accepts_mail=True, provider=provider)
        for domain in ("gmaxl.com", "comcasr.net", "gmial.com")
    }
    assert suggestions == {"gmaxl.com": None, "comcasr.net": None, "gmial.com": "gmail.com"}


def test_mail_host_of_a_company_rules_out_an_unlikely_typo(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("gmaxl.com")
    fake_dns.add_mail_domain("gmaxil.com", "aspmx.l.google.com")
    assert engine.check("jane@gmaxl.com").did_you_mean == "jane@gmail.com"
    assert engine.check("jane@gmaxil.com").reasons == ("domain_accepts_mail",)


@pytest.mark.parametrize("domain", ["gmqx.de", "wab.de", "lqve.com"])
def test_idle_domain_is_corrected_like_one_that_accepts_no_mail(domain: str) -> None:
    corrected = suggest_domain(domain, DATA, accepts_mail=False)
    assert corrected is not None
    assert suggest_domain(domain, DATA, accepts_mail=True) is None
    assert suggest_domain(domain, DATA, accepts_mail=True, is_idle=True) == corrected


@pytest.mark.parametrize(
    "domain", ["libera.it", "mai.ru", "yahoo.ae", "hotmail.xyz", "qz.com", "acme.com"]
)
def test_idle_domain_with_a_name_of_its_own_is_not_corrected(domain: str) -> None:
    assert suggest_domain(domain, DATA, accepts_mail=True, is_idle=True) is None


def test_domain_without_a_mail_host_of_its_own_is_idle(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("gmqx.de", A="93.184.216.34")
    finding = engine.check("jane@gmqx.de")
    assert finding.reasons == ("possible_typo", "no_mx_record")
    assert finding.did_you_mean == "jane@gmx.de"


@pytest.mark.parametrize(
    ("spf", "suggestion"), [("v=spf1 -all", "jane@gmx.de"), ("v=spf1 mx -all", None)]
)
def test_domain_that_disowns_all_its_mail_is_idle(
    engine: Engine, fake_dns: FakeDns, spf: str, suggestion: str | None
) -> None:
    fake_dns.add_mail_domain("gmqx.de")
    fake_dns.add_records("gmqx.de", TXT=f'"{spf}"')
    assert engine.check("jane@gmqx.de").did_you_mean == suggestion


def test_listed_exception_would_be_a_typo_otherwise() -> None:
    """Each line of the file has an effect, and names a domain that an owner can have."""
    without = DomainData()
    without.__dict__["not_typos"] = frozenset()
    for domain in DATA.not_typos:
        assert suggest_domain(domain, without, accepts_mail=True, is_idle=True), domain
        assert suggest_domain(domain, DATA, accepts_mail=True, is_idle=True) is None, domain
        assert DATA.registrable_domain(domain) == domain


def test_known_typo_is_corrected_whatever_its_records_say() -> None:
    typos = {"gmail.net", "yahoo.net", "hotmail.net", "gemail.com", "gimail.com", "hitmail.com"}
    assert typos <= DATA.known_typos.keys()
    for typed, meant in DATA.known_typos.items():
        assert meant in DATA.typo_targets
        assert not DATA.is_well_known(typed)
        assert typed not in DATA.not_typos
        for provider in (None, "google", "yahoo"):
            assert suggest_domain(typed, DATA, accepts_mail=True, provider=provider) == meant


@pytest.mark.parametrize(
    ("accepts_mail", "min_corrected", "max_wrong"), [(True, 0.8, 0.003), (False, 0.98, 0)]
)
def test_most_typos_of_a_large_provider_are_corrected(
    accepts_mail: bool, min_corrected: float, max_wrong: float
) -> None:
    providers = ("gmail.com", "outlook.com", "yahoo.co.jp", "t-online.de", "comcast.net")
    corrected = wrong = count = 0
    for provider in providers:
        for typo in make_typos(provider):
            if DATA.is_well_known(typo) or not DATA.registrable_domain(typo):
                continue
            suggestion = suggest_domain(typo, DATA, accepts_mail=accepts_mail)
            count += 1
            corrected += suggestion == provider
            wrong += suggestion not in (None, provider)
    assert count > 1_000
    assert corrected / count > min_corrected
    assert wrong / count <= max_wrong
