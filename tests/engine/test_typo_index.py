"""The index of providers, and the choice between several that are one typo away."""

import pytest

from engine.domain_data import DomainData
from engine.suggestions.provider_names import FAMOUS_NAMES
from engine.typo_index import TypoIndex, choose_best
from engine.typos import classify_typo
from tests.engine.suggestions.typing_errors import make_typos

DATA = DomainData()
UNKNOWN = tuple(f"provider-{number}.com" for number in range(100))


@pytest.mark.parametrize("domain", ["qq.com", "i.ua", "gmx.de", "gmail.com", "hotmail.co.uk"])
def test_index_finds_a_domain_by_each_of_its_typos(domain: str) -> None:
    index = TypoIndex(DATA.typo_targets)
    for typo in make_typos(domain, "aqz.") - set(DATA.typo_targets):
        found = {match.domain for match in index.find(typo)}
        assert found == {target for target in DATA.typo_targets if classify_typo(typo, target)}


@pytest.mark.parametrize("typed", ["gmail.com", "acme.com", "gmx", "", "quarterly-report.co.uk"])
def test_index_finds_nothing_for_a_domain_that_is_no_typo(typed: str) -> None:
    assert not TypoIndex(("gmail.com", "gmx.de")).find(typed)


def test_most_likely_typo_is_chosen() -> None:
    """Two swapped letters are more likely than a wrong one."""
    index = TypoIndex((*UNKNOWN, "abcde.com", "abced.com"))
    assert _choose(index, "abecd.com") == "abced.com"


def test_better_known_of_two_equally_likely_domains_is_chosen() -> None:
    index = TypoIndex(("mail-a.com", *UNKNOWN, "mail-b.com"))
    assert _choose(index, "mail-.com") == "mail-a.com"


def test_neither_of_two_equally_known_domains_is_chosen() -> None:
    index = TypoIndex((*UNKNOWN, "mail-a.com", "mail-b.com"))
    assert _choose(index, "mail-.com") is None


def test_famous_domain_is_chosen_for_an_unlikely_typo() -> None:
    """The k is next to the l of mail.co, but far more people use mail.com."""
    index = TypoIndex(("mail.com", *UNKNOWN, "mail.cl"))
    assert _choose(index, "mail.ckl") == "mail.cl"
    assert _choose(index, "mail.col") == "mail.com"


def test_large_country_of_a_provider_is_preferred_to_a_small_one() -> None:
    """The j is next to the i of mail.fi, but far more people use mail.fr."""
    index = TypoIndex((*UNKNOWN[:10], "mail.fr", *UNKNOWN[10:], "mail.fi"))
    assert _choose(index, "mail.fj") == "mail.fr"


def test_domains_with_the_same_name_are_found() -> None:
    index = TypoIndex(("mail.com", "mail.fr", "other.fr"))
    assert index.find_by_name("mail") == ["mail.com", "mail.fr"]
    assert index.find_by_name("mai") == []


def test_targets_are_distinct_domains_with_each_famous_provider_among_them() -> None:
    names = {domain.partition(".")[0] for domain in DATA.typo_targets}
    assert set(FAMOUS_NAMES) <= names
    assert not set(DATA.typo_targets) & (DATA.not_typos | DATA.reserved)
    for domain in DATA.typo_targets:
        assert DATA.registrable_domain(domain), domain


def _choose(index: TypoIndex, typed: str) -> str | None:
    best = choose_best(index.find(typed))
    return best and best.domain
