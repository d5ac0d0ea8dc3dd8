"""docs/validation.md agrees with the code."""

import pytest

from tests.support.docs_tables import DOCUMENT, render_tables
from validation.engine.dns.messages import MAX_MAIL_HOSTS
from validation.engine.verdicts.reason_texts import MEANINGS, RESERVED_REASONS
from validation.engine.verdicts.reasons import VERDICT_BY_REASON


@pytest.mark.parametrize("name", render_tables())
def test_tables_match_the_code(name: str) -> None:
    """Run `python -m tests.support.docs_tables --write` if this fails."""
    assert render_tables()[name] in DOCUMENT.read_text()


def test_each_reason_has_a_meaning_and_an_action() -> None:
    assert {*MEANINGS} == {*VERDICT_BY_REASON} > RESERVED_REASONS
    assert all(meaning.means and meaning.do for meaning in MEANINGS.values())


def test_number_of_hosts_matches_the_code() -> None:
    assert f"more than {MAX_MAIL_HOSTS} hosts" in DOCUMENT.read_text()
