"""The data files and how the engine reads them."""

import disposable_email_domains
import pytest
from publicsuffixlist import PublicSuffixList

from engine.dns.providers import OTHER, identify_provider
from engine.domain_data import DATA_FOLDER, DomainData, StaffDomains, is_below, read_data_file

DATA = DomainData()


@pytest.mark.parametrize("path", sorted(DATA_FOLDER.glob("*.txt")), ids=lambda path: str(path.stem))
def test_data_file_states_its_source_and_has_no_duplicates(path: object) -> None:
    file = read_data_file(getattr(path, "stem", ""))
    assert all((file.source, file.version, file.license, file.entries))
    assert len(file.date) == len("2026-11-09")
    assert len(set(file.entries)) == len(file.entries)
    assert all(entry == entry.strip().lower() and entry.isascii() for entry in file.entries)


def test_known_disposable_domain_is_disposable() -> None:
    for domain in read_data_file("always_disposable").entries:
        assert DATA.is_disposable(domain), domain
        assert DATA.is_disposable(f"any.{domain}"), domain


LEGITIMATE = {
    name: read_data_file(name).entries
    for name in (
        *("never_disposable", "allowlisted", "free_providers", "relays", "typo_targets"),
        "shared_domains",
    )
}


@pytest.mark.parametrize(
    ("domain", "is_disposable"),
    [
        ("sanguinopumail.ru", True),
        ("psychogmails.ru", True),
        ("phosphatidylml.ru", True),
        ("208gmail.com", True),
        ("schoolmail.ru", False),
        ("xhtml.ru", False),
        ("mail.ru", False),
        ("hotmail.com", False),
    ],
)
def test_names_of_generators_are_disposable(domain: str, is_disposable: bool) -> None:
    assert DATA.is_disposable(domain) is is_disposable


@pytest.mark.parametrize("name", LEGITIMATE)
def test_legitimate_domains_are_not_disposable(name: str) -> None:
    domains = LEGITIMATE[name]
    assert [domain for domain in domains if DATA.is_disposable(domain)] == []
    assert [domain for domain in domains if DATA.is_disposable(f"any.{domain}")] == []


def test_real_provider_on_public_lists_is_not_disposable() -> None:
    providers = "sify.com 21cn.com mail2world.com timeweb.ru neomailbox.com sudomail.net mijnhva.nl"
    for domain in (*providers.split(), "99.com", "knime.app"):
        assert DATA.disposable_by(domain, [f"mx.{domain}"]) is None, domain


def test_no_mail_host_of_a_provider_makes_domains_disposable_or_parked() -> None:
    hosts = DATA.disposable_hosts | DATA.parking_hosts
    legitimate = {domain for domains in LEGITIMATE.values() for domain in domains}
    assert not {host for host in hosts if is_below(host, frozenset(legitimate))}
    assert not hosts & DATA.public_suffixes
    assert not DATA.disposable_hosts & DATA.parking_hosts
    assert {identify_provider([host]) for host in hosts} == {OTHER}


@pytest.mark.parametrize(
    ("host", "disposable_by"),
    [
        ("mail.mailinator.com", "mx"),
        ("smtp.yopmail.com", "mx"),
        ("generator.email", "mx"),
        ("recv7.erinn.biz", "mx"),
        ("in.mail.tm", "mx"),
        ("mx.mailto.plus", "mx"),
        ("email.chatgpt.org.uk", "mx"),
        ("mx.chatgpt.org.uk", None),
        ("notmailinator.com", None),
        ("mailinator.com.shop.com", None),
        ("mx1.timeweb.ru", None),
        ("publicms1.mail2world.com", None),
        ("route1.mx.cloudflare.net", None),
        ("park-mx.above.com", None),
    ],
)
def test_mail_host_of_a_disposable_service_makes_a_domain_disposable(
    host: str, disposable_by: str | None
) -> None:
    assert DATA.disposable_by("shop.com", ["mx.shop.com", host]) == disposable_by


@pytest.mark.parametrize("domain", ["gmail.com", "laposte.net", "99.com", "shop.99.com"])
def test_protected_domain_is_not_disposable_by_its_mail_host(domain: str) -> None:
    assert DATA.disposable_by(domain, ["mail.mailinator.com"]) is None


def test_allowed_domain_is_not_disposable_by_its_mail_host() -> None:
    staff = StaffDomains(allowed=frozenset({"shop.com"}))
    assert DATA.disposable_by("shop.com", ["mail.mailinator.com"], staff) is None


@pytest.mark.parametrize(
    ("domain", "hosts", "is_parked"),
    [
        ("shop.com", ["park-mx.above.com"], True),
        ("shop.com", ["park-mx.above.com", "mail.h-email.net"], True),
        ("shop.com", ["above.com"], False),
        ("shop.com", ["notpark-mx.above.com"], False),
        ("shop.com", ["mx.shop.com", "park-mx.above.com"], False),
        ("shop.com", ["smtp.secureserver.net"], False),
        ("shop.com", ["mail1.namebrightmail.com"], False),
        ("shop.com", [], False),
        ("bodis.com", ["mx.bodis.com"], False),
    ],
)
def test_domain_is_parked_if_all_its_mail_hosts_belong_to_parking_services(
    domain: str, hosts: list[str], is_parked: bool
) -> None:
    assert DATA.is_parked(domain, hosts) is is_parked


def test_domain_that_strangers_share_is_not_disposable_as_a_whole() -> None:
    shared = {"ddns.net", "mooo.com", "eu.org", "co.uk", "us.to", "25u.com"}
    assert not shared & DATA.disposable


def test_data_files_do_not_overlap() -> None:
    assert not DATA.free_providers & (DATA.disposable | DATA.relays | DATA.reserved)
    assert not DATA.role_accounts & DATA.no_reply


def test_no_public_suffix_is_a_free_provider() -> None:
    assert not DATA.free_providers & DATA.public_suffixes
    assert all("." in domain for domain in DATA.free_providers)


def test_registrable_domain_follows_the_public_suffix_list() -> None:
    library = PublicSuffixList()
    special = (
        "uk co.uk a.co.uk b.a.co.uk www.ck a.www.ck x.ck y.x.ck con a.con github.io a.github.io"
    )
    more = ("a.xn--p1ai", "city.kawasaki.jp", "a.b.kawasaki.jp")
    for domain in (*special.split(), *more, *disposable_email_domains.blocklist):
        assert DATA.registrable_domain(domain) == library.privatesuffix(domain), domain


@pytest.mark.parametrize(
    ("domain", "allowed", "denied", "is_disposable"),
    [
        ("shop.com", "", "shop.com", True),
        ("a.shop.com", "", "shop.com", True),
        ("shop.com", "", "a.shop.com", False),
        ("mailinator.com", "mailinator.com", "", False),
        ("a.mailinator.com", "mailinator.com", "", False),
        ("a.shop.com", "a.shop.com", "shop.com", False),
        ("a.shop.com", "shop.com", "a.shop.com", True),
    ],
)
def test_closest_staff_domain_overrides_the_data_file(
    domain: str, allowed: str, denied: str, is_disposable: bool
) -> None:
    staff = StaffDomains(frozenset({allowed}), frozenset({denied}))
    assert DATA.is_disposable(domain, staff) is is_disposable
