"""docs/security.md matches the code: every line references a test, and all tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.servers.product import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()
# The requirements of level 1 of OWASP's Application Security Verification Standard 5.0.0.
_NUMBERS = """
1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1
3.4.2 3.5.1 3.5.2 3.5.3 4.1.1 4.4.1 5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5
6.2.6 6.2.7 6.2.8 6.3.1 6.3.2 6.4.1 6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 8.1.1 8.2.1 8.2.2
8.3.1 9.1.1 9.1.2 9.1.3 9.2.1 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1
12.2.2 13.4.1 14.2.1 14.3.1 15.1.1 15.2.1 15.3.1
"""
LEVEL_1 = _NUMBERS.split()
API_TOP_10 = [f"API{number}" for number in range(1, 11)]
GROUPS = [
    *("Keys and logs", "Pages and emails", "Mail and DNS", "Webhooks", "Input"),
    *("Credits and money", "Operation"),
]


def read_table(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading."""
    text = PAGE.partition(f"\n{heading}\n")[2].partition("\n#")[0]
    table = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


def find_tests(text: str) -> list[str]:
    return re.findall(r"`(tests/[\w/.]+::\w+)`", text)


@cache
def collect_tests(file: Path) -> set[str]:
    """Return what pytest collects: functions, and methods of classes named Test…"""
    tree = ast.parse(file.read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bodies = [tree.body, *(node.body for node in classes if node.name.startswith("Test"))]
    functions = [node for body in bodies for node in body if isinstance(node, ast.FunctionDef)]
    return {node.name for node in functions if node.name.startswith("test_")}


def threats() -> list[list[str]]:
    return [row for group in GROUPS for row in read_table(f"### {group}")]


def test_every_threat_is_listed_once_and_has_a_test() -> None:
    assert len(threats()) >= 70
    for threat, tests in threats():
        assert find_tests(tests), threat
    names = [threat for threat, _ in threats()]
    assert len(names) == len(set(names))


def test_every_reference_is_to_another_test_that_exists() -> None:
    for reference in find_tests(PAGE):
        file, _, name = reference.partition("::")
        assert (ROOT / file).name.startswith("test_"), reference
        assert name in collect_tests(ROOT / file), reference
    for line in PAGE.splitlines():
        references = find_tests(line)
        assert len(references) == len(set(references)), line


def test_every_risk_of_the_api_top_10_is_addressed() -> None:
    rows = read_table("## OWASP API Security Top 10 (2023)")
    assert [row[0] for row in rows] == API_TOP_10
    for _, risk, measure, tests in rows:
        assert measure, risk
        assert find_tests(tests), risk


def test_every_requirement_of_level_1_has_a_status() -> None:
    rows = read_table("## OWASP ASVS 5.0.0, level 1")
    assert [row[0] for row in rows] == LEVEL_1
    for number, _, state, reason, tests in rows:
        assert state in {"met", "not applicable", "not met"}, number
        # A requirement that is met needs a test; any other status needs an explanation.
        assert find_tests(tests) if state == "met" else reason, number
