"""docs/security.md is held to the code: no line without a test, no test that does not exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.servers.product import ROOT

pytestmark = pytest.mark.anywhere

PAGE = (ROOT / "docs" / "security.md").read_text()
# What OWASP asks of level 1 in its Application Security Verification Standard 5.0.0.
_NUMBERS = """
1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1
3.4.2 3.5.1 3.5.2 3.5.3 4.1.1 4.4.1 5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5
6.2.6 6.2.7 6.2.8 6.3.1 6.3.2 6.4.1 6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 8.1.1 8.2.1 8.2.2
8.3.1 9.1.1 9.1.2 9.1.3 9.2.1 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1
12.2.2 13.4.1 14.2.1 14.3.1 15.1.1 15.2.1 15.3.1
"""
LEVEL_1 = _NUMBERS.split()
API_TOP_10 = [f"API{number}" for number in range(1, 11)]
GROUPS = ["Keys and logs", "Pages and mails", "Mail and DNS", "Input", "Money", "Around it"]


def part(heading: str) -> list[list[str]]:
    """The cells of a part's table."""
    text = PAGE.partition(f"\n{heading}\n")[2].partition("\n#")[0]
    table = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


def named_in(text: str) -> list[str]:
    return re.findall(r"`(tests/[\w/.]+::\w+)`", text)


@cache
def collected(file: Path) -> set[str]:
    """What pytest takes for tests: functions, and methods of classes called Test…"""
    tree = ast.parse(file.read_text())
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    bodies = [tree.body, *(one.body for one in classes if one.name.startswith("Test"))]
    functions = [one for body in bodies for one in body if isinstance(one, ast.FunctionDef)]
    return {one.name for one in functions if one.name.startswith("test_")}


def threats() -> list[list[str]]:
    return [row for group in GROUPS for row in part(f"### {group}")]


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_of_threats_has_its_table(group: str) -> None:
    assert len(part(f"### {group}")) >= 7


def test_every_threat_has_a_test() -> None:
    assert len(threats()) >= 70
    for threat, tests in threats():
        assert named_in(tests), threat


def test_no_threat_stands_there_twice() -> None:
    said = [threat for threat, _ in threats()]
    assert len(said) == len(set(said))


def test_every_test_that_is_named_exists() -> None:
    for named in named_in(PAGE):
        file, _, name = named.partition("::")
        assert (ROOT / file).name.startswith("test_"), named
        assert name in collected(ROOT / file), named


def test_no_line_names_a_test_twice() -> None:
    for line in PAGE.splitlines():
        named = named_in(line)
        assert len(named) == len(set(named)), line


def test_every_risk_of_the_api_top_10_is_answered() -> None:
    rows = part("## OWASP API Security Top 10 (2023)")
    assert [row[0] for row in rows] == API_TOP_10
    for _, risk, answer, tests in rows:
        assert answer, risk
        assert named_in(tests), risk


def test_every_requirement_of_level_1_is_judged() -> None:
    rows = part("## OWASP ASVS 5.0.0, level 1")
    assert [row[0] for row in rows] == LEVEL_1
    for number, _, state, reason, tests in rows:
        assert state in {"met", "not applicable", "not met"}, number
        # What is met is shown by a test, all else is explained.
        assert named_in(tests) if state == "met" else reason, number


def test_what_is_counted_is_counted_right() -> None:
    states = [row[2] for row in part("## OWASP ASVS 5.0.0, level 1")]
    met, odd, not_met = (states.count(s) for s in ("met", "not applicable", "not met"))
    text = " ".join(PAGE.split())
    assert f"{len(LEVEL_1)} requirements of level 1" in text
    assert f"{met} met, {odd} not applicable, {not_met} not met" in text
