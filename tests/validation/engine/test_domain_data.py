"""The data files and how the engine reads them."""

import disposable_email_domains
import pytest
from publicsuffixlist import PublicSuffixList

from validation.engine.domain_data import DATA_FOLDER, DomainData, StaffDomains, read_data_file

pytestmark = pytest.mark.anywhere

DATA = DomainData()


@pytest.mark.parametrize("path", sorted(DATA_FOLDER.glob("*.txt")), ids=lambda path: str(path.stem))
def test_data_file_states_its_source_and_has_no_duplicates(path: object) -> None:
    file = read_data_file(getattr(path, "stem", ""))
    assert all((file.source, file.version, file.license, file.entries))
    assert len(file.date) == len("2026-11-09")
    assert len(set(file.entries)) == len(file.entries)
    assert all(entry == entry.strip().lower() and entry.isascii() for entry in file.entries)


@pytest.mark.parametrize("domain", read_data_file("always_disposable").entries)
def test_known_disposable_domain_is_disposable(domain: str) -> None:
    assert DATA.is_disposable(domain)
    assert DATA.is_disposable(f"any.{domain}")


@pytest.mark.parametrize(
    "domain",
    [*read_data_file("never_disposable").entries, *sorted(DATA.relays), *DATA.typo_targets],
)
def test_known_legitimate_domain_is_not_disposable(domain: str) -> None:
    assert not DATA.is_disposable(domain)
    assert not DATA.is_disposable(f"any.{domain}")


def test_data_files_do_not_overlap() -> None:
    assert not DATA.free_providers & (DATA.disposable | DATA.relays | DATA.reserved)
    assert not DATA.role_accounts & DATA.no_reply


@pytest.mark.parametrize(
    "domain", ["gmail.com", "googlemail.com", "yahoo.co.uk", "outlook.com", "web.de", "qq.com"]
)
def test_free_provider_is_recognized(domain: str) -> None:
    assert domain in DATA.free_providers


@pytest.mark.parametrize(
    "domain", ["microsoft.com", "google.com", "mailinator.com", "duck.com", "shop.com"]
)
def test_other_domain_is_not_a_free_provider(domain: str) -> None:
    assert domain not in DATA.free_providers


@pytest.mark.parametrize(
    "domain",
    ["duck.com", "mozmail.com", "simplelogin.com", "privaterelay.appleid.com", "a.anonaddy.com"],
)
def test_relay_is_recognized(domain: str) -> None:
    assert DATA.is_relay(domain)


@pytest.mark.parametrize("name", ["info", "sales", "postmaster", "abuse", "webmaster", "billing"])
def test_role_account_is_recognized(name: str) -> None:
    assert DATA.is_role_account(name)


@pytest.mark.parametrize("name", ["mail", "hello", "test", "me", "home", "jane", "it", "ceo"])
def test_personal_mailbox_is_not_a_role_account(name: str) -> None:
    assert not DATA.is_role_account(name)


@pytest.mark.parametrize(
    "name",
    ["noreply", "no-reply", "no.reply", "no_reply", "donotreply", "do-not-reply", "orders-noreply"],
)
def test_no_reply_mailbox_is_recognized(name: str) -> None:
    assert DATA.is_no_reply(name)


@pytest.mark.parametrize("name", ["reply", "no", "jane", "know-reply", "noreplyx", "not.a.reply"])
def test_other_mailbox_is_not_no_reply(name: str) -> None:
    assert not DATA.is_no_reply(name)


@pytest.mark.parametrize(
    "domain", ["example.com", "a.example.org", "x.test", "host.local", "a.alt"]
)
def test_special_use_domain_is_reserved(domain: str) -> None:
    assert DATA.is_reserved(domain)


@pytest.mark.parametrize("domain", ["example.de", "myexample.com", "test.com", "local.com"])
def test_similar_domain_is_not_reserved(domain: str) -> None:
    assert not DATA.is_reserved(domain)


def test_registrable_domain_follows_the_public_suffix_list() -> None:
    library = PublicSuffixList()
    special = ("uk", "co.uk", "a.co.uk", "b.a.co.uk", "www.ck", "a.www.ck", "x.ck", "y.x.ck", "con")
    more = (
        "a.con",
        "github.io",
        "a.github.io",
        "a.xn--p1ai",
        "city.kawasaki.jp",
        "a.b.kawasaki.jp",
    )
    for domain in (*special, *more, *disposable_email_domains.blocklist):
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
