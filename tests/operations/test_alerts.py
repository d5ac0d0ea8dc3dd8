"""deploy/prometheus: each alert can fire, is silent before, and uses metrics that exist."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.servers.product import ROOT
from tests.servers.promtool import promtool
from tests.support.headings import anchors
from tests.support.promql import labels_by_sample, mistakes, recorded_names

FOLDER = ROOT / "deploy" / "prometheus"
RULES_FILE, TEST_FILE = FOLDER / "alerts.yaml", FOLDER / "alerts_test.yaml"
TIME_UNITS = {"h": 60, "m": 1}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES_FILE.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    return [rule for rule in rules() if "alert" in rule]


def minutes(duration: str) -> int:
    parts = re.findall(r"(\d+)([hm])", duration)
    return sum(int(number) * TIME_UNITS[unit] for number, unit in parts)


def cases() -> Iterator[tuple[str, list[tuple[int, list[str]]]]]:
    """Yield the name of each test group, and when which alerts fire in it, in order of time."""
    for group in yaml.safe_load(TEST_FILE.read_text())["tests"]:
        fires = [
            (
                minutes(test["eval_time"]),
                [
                    str(name)
                    for s in test["exp_samples"]
                    for name in re.findall('"(.+)"', s["labels"])
                ],
            )
            for test in group["promql_expr_test"]
        ]
        yield group["name"], sorted(fires)


def test_there_is_one_case_for_each_alert() -> None:
    names = [alert["alert"] for alert in alerts()]
    assert len(names) > 20
    assert sorted(name for name, _ in cases()) == sorted(names)


def test_each_alert_is_silent_with_its_metrics_healthy_and_fires_later() -> None:
    for name, fires in cases():
        (_, before), (_, after) = fires
        assert (before, after) == ([], [name])


@pytest.mark.proof
def test_the_alerts_fire_as_the_cases_say() -> None:
    process = promtool("test", "rules", TEST_FILE)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "SUCCESS" in process.stdout


def test_promtool_accepts_the_rules() -> None:
    process = promtool("check", "rules", RULES_FILE)
    assert process.returncode == 0, process.stdout + process.stderr
    assert f"{len(rules())} rules found" in process.stdout


def test_each_rule_uses_metrics_and_labels_that_exist() -> None:
    known = labels_by_sample()
    found = {rule["expr"]: [*mistakes(rule["expr"], known)] for rule in rules()}
    assert {expression: lines for expression, lines in found.items() if lines} == {}


def test_each_recorded_series_is_defined_and_used() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    used = set().union(*(recorded_names(alert["expr"]) for alert in alerts()))
    assert recorded == used


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: str(alert["alert"]))
def test_each_alert_has_a_severity_and_names_a_heading_of_the_handbook(
    alert: dict[str, Any],
) -> None:
    assert alert["labels"]["severity"] in {"critical", "warning"}
    page, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert page.startswith("docs/operations")
    assert anchor in anchors(ROOT / page)


def test_each_label_in_a_text_is_one_that_the_alert_has() -> None:
    for alert in alerts():
        labels = set(re.findall(r"\$labels\.(\w+)", str(alert["annotations"])))
        grouped = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", alert["expr"]))))
        # An alert without an aggregation has all labels of its series.
        assert labels <= grouped or not re.search(r"\b(sum|max|count)\b", alert["expr"]), alert


def test_each_inhibition_is_by_an_alert_and_silences_others() -> None:
    names = {alert["alert"] for alert in alerts()}
    config = yaml.safe_load((FOLDER / "alertmanager.yaml").read_text())
    for rule in config["inhibit_rules"]:
        source = _select(rule["source_matchers"], names)
        silenced = _select(rule["target_matchers"], names)
        assert len(source) == 1
        assert silenced
        assert not source & silenced


def _select(matchers: list[str], names: set[str]) -> set[str]:
    for matcher in matchers:
        operator, pattern = re.fullmatch(r'alertname(=~|!=|=)"(.+)"', matcher).groups()  # type: ignore[union-attr]
        names = {name for name in names if bool(re.fullmatch(pattern, name)) == (operator != "!=")}
    return names
