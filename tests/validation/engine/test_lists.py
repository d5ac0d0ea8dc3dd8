"""What is known without asking anybody, and that the lists hold what they must."""

import disposable_email_domains
import pytest
from publicsuffixlist import PublicSuffixList

from validation.engine.domain_data import DATA, DomainData, StaffDomains, read_data_file

pytestmark = pytest.mark.anywhere

LISTS = DomainData()


@pytest.mark.parametrize("path", sorted(DATA.glob("*.txt")), ids=lambda path: str(path.stem))
def test_each_list_says_where_it_comes_from_and_repeats_nothing(path: object) -> None:
    listed = read_data_file(getattr(path, "stem", ""))
    assert all((listed.source, listed.version, listed.licence, listed.entries))
    assert len(listed.date) == len("2026-11-09")
    assert len(set(listed.entries)) == len(listed.entries)
    assert all(entry == entry.strip().lower() and entry.isascii() for entry in listed.entries)


@pytest.mark.parametrize("domain", read_data_file("always_disposable").entries)
def test_what_must_be_disposable_is(domain: str) -> None:
    assert LISTS.is_disposable(domain)
    assert LISTS.is_disposable(f"any.{domain}")


@pytest.mark.parametrize(
    "domain",
    [*read_data_file("never_disposable").entries, *sorted(LISTS.relays), *LISTS.typo_targets],
)
def test_what_must_not_be_disposable_is_not(domain: str) -> None:
    assert not LISTS.is_disposable(domain)
    assert not LISTS.is_disposable(f"any.{domain}")


def test_the_lists_do_not_overlap() -> None:
    assert not LISTS.free_providers & (LISTS.disposable | LISTS.relays | LISTS.reserved)
    assert not LISTS.role_accounts & LISTS.no_reply


@pytest.mark.parametrize(
    "domain", ["gmail.com", "googlemail.com", "yahoo.co.uk", "outlook.com", "web.de", "qq.com"]
)
def test_free_providers_are_known(domain: str) -> None:
    assert domain in LISTS.free_providers


@pytest.mark.parametrize(
    "domain", ["microsoft.com", "google.com", "mailinator.com", "duck.com", "shop.com"]
)
def test_others_are_no_free_providers(domain: str) -> None:
    assert domain not in LISTS.free_providers


@pytest.mark.parametrize(
    "domain",
    ["duck.com", "mozmail.com", "simplelogin.com", "privaterelay.appleid.com", "a.anonaddy.com"],
)
def test_relays_are_known(domain: str) -> None:
    assert LISTS.is_relay(domain)


@pytest.mark.parametrize("name", ["info", "sales", "postmaster", "abuse", "webmaster", "billing"])
def test_mailboxes_of_a_task_are_role_accounts(name: str) -> None:
    assert LISTS.is_role_account(name)


@pytest.mark.parametrize("name", ["mail", "hello", "test", "me", "home", "jane", "it", "ceo"])
def test_what_people_choose_is_no_role_account(name: str) -> None:
    assert not LISTS.is_role_account(name)


@pytest.mark.parametrize(
    "name",
    ["noreply", "no-reply", "no.reply", "no_reply", "donotreply", "do-not-reply", "orders-noreply"],
)
def test_nobody_reads_a_no_reply(name: str) -> None:
    assert LISTS.is_no_reply(name)


@pytest.mark.parametrize("name", ["reply", "no", "jane", "know-reply", "noreplyx", "not.a.reply"])
def test_others_are_read(name: str) -> None:
    assert not LISTS.is_no_reply(name)


@pytest.mark.parametrize(
    "domain", ["example.com", "a.example.org", "x.test", "host.local", "a.alt"]
)
def test_names_set_aside_are_reserved(domain: str) -> None:
    assert LISTS.is_reserved(domain)


@pytest.mark.parametrize("domain", ["example.de", "myexample.com", "test.com", "local.com"])
def test_names_like_them_are_not(domain: str) -> None:
    assert not LISTS.is_reserved(domain)


def test_the_registrable_domain_is_that_of_the_public_suffix_list() -> None:
    theirs = PublicSuffixList()
    odd = ("uk", "co.uk", "a.co.uk", "b.a.co.uk", "www.ck", "a.www.ck", "x.ck", "y.x.ck", "con")
    more = (
        "a.con",
        "github.io",
        "a.github.io",
        "a.xn--p1ai",
        "city.kawasaki.jp",
        "a.b.kawasaki.jp",
    )
    for domain in (*odd, *more, *disposable_email_domains.blocklist):
        assert LISTS.registrable(domain) == theirs.privatesuffix(domain), domain


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
def test_what_staff_say_counts_before_the_list_the_nearest_first(
    domain: str, allowed: str, denied: str, is_disposable: bool
) -> None:
    staff = StaffDomains(frozenset({allowed}), frozenset({denied}))
    assert LISTS.is_disposable(domain, staff) is is_disposable
