"""The one table of words has an entry for each act that is recorded, and none besides."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.audit.actions import ACTIONS, words_of
from accounts.audit.queries import HEAD
from tests.site.actions import customers, sign_in, staff

ROOT = Path(__file__).resolve().parents[3]
# `credits.…` is the name of a module or a permission as well: tests/site/test_every_action.py.
SUBJECTS = {code.partition(".")[0] for code in ACTIONS} - {"credits"}
LOOKS_LIKE_ONE = re.compile(rf"(?:{'|'.join(SUBJECTS)})\.[a-z_]+")
# What no page does: events of the payment service, and looks.
BY_OTHERS = {"order.paid_twice", "order.odd_payment", "account.looked_at_by_staff"}


def texts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_whatever_the_program_records_has_words() -> None:
    apps = ("accounts", "apikeys", "credits", "validation", "config")
    files = [file for app in apps for file in (ROOT / app).rglob("*.py")]
    named = {text for file in files for text in texts(file) if LOOKS_LIKE_ONE.fullmatch(text)}
    assert len(named) > 40
    assert named - ACTIONS.keys() == set()


def test_each_act_with_words_is_done_by_a_test_of_its_page() -> None:
    done = {act.action for act in [*customers.ACTS, *sign_in.ACTS, *staff.ACTS]}
    assert ACTIONS.keys() - done == BY_OTHERS
    assert not BY_OTHERS & done


@pytest.mark.parametrize("action", ACTIONS.values(), ids=str)
def test_words_are_a_customers_and_no_code(action: object) -> None:
    words = getattr(action, "words")  # noqa: B009
    assert words[0].isupper()
    assert "." not in words
    assert "_" not in words


def test_an_entry_of_an_act_that_is_no_more_is_shown_as_written() -> None:
    assert words_of("order.sent_by_pigeon") == "order.sent_by_pigeon"
    assert HEAD[-1] == "action"
