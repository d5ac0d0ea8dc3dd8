"""docs/validation.md says what the code does."""

import pytest

from tests.support.docs_tables import DOCUMENT, tables
from validation.engine.dns.messages import MOST_HOSTS
from validation.engine.meanings import MEANINGS, RESERVED_REASONS
from validation.engine.reasons import VERDICT_OF


@pytest.mark.parametrize("name", tables())
def test_the_tables_are_those_of_the_code(name: str) -> None:
    """Otherwise: python -m tests.support.docs_tables --write"""
    assert tables()[name] in DOCUMENT.read_text()


def test_each_reason_says_what_it_means_and_what_to_do() -> None:
    assert {*MEANINGS} == {*VERDICT_OF} > RESERVED_REASONS
    assert all(meaning.means and meaning.do for meaning in MEANINGS.values())


def test_the_number_of_hosts_is_told_right() -> None:
    assert f"more than {MOST_HOSTS} hosts" in DOCUMENT.read_text()
