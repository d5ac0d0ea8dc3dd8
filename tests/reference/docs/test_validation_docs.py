"""docs/validation.md agrees with the code."""

import pytest

from engine.dns.messages import MAX_MAIL_HOSTS
from engine.verdicts.reasons import MEANINGS
from tests.support.docs_tables import DOCUMENT, render_tables


@pytest.mark.parametrize("name", render_tables())
def test_tables_match_the_code(name: str) -> None:
    """Run `python -m tests.support.docs_tables --write` if this fails."""
    assert render_tables()[name] in DOCUMENT.read_text()


def test_example_of_a_script_prints_what_its_comment_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = DOCUMENT.read_text().partition("```python\n")[2].partition("```")[0]
    exec(script, {})  # noqa: S102
    assert capsys.readouterr().out.strip() == script.strip().rpartition("# ")[2]


def test_each_reason_has_a_meaning_and_an_action() -> None:
    assert all(meaning.means and meaning.do for meaning in MEANINGS.values())


def test_number_of_hosts_matches_the_code() -> None:
    assert f"more than {MAX_MAIL_HOSTS} hosts" in DOCUMENT.read_text()
