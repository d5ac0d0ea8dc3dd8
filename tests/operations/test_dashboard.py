"""deploy/grafana/dashboard.json: Grafana can import it, and it uses metrics that exist."""

import json
from pathlib import Path
from typing import Any

import yaml

from tests.servers.product import ROOT
from tests.servers.promtool import promtool
from tests.support.docs_metrics import load_all_metrics
from tests.support.promql import labels_by_sample, mistakes, selectors

DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
GRAPHS = [panel for panel in PANELS if panel["type"] != "row"]
VARIABLES = {"$__rate_interval": "5m", "$job": "email-validation", "$instance": ".*"}


def expressions() -> list[str]:
    """Return the expressions of panels and annotations, with values for Grafana's variables."""
    texts = [target["expr"] for panel in GRAPHS for target in panel["targets"]]
    texts += [note["expr"] for note in DASHBOARD["annotations"]["list"] if "expr" in note]
    for name, value in VARIABLES.items():
        texts = [text.replace(name, value) for text in texts]
    assert len(texts) > 60
    assert "$" not in "".join(texts)
    return texts


def test_the_data_source_is_a_variable() -> None:
    variables = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
    assert list(variables) == ["datasource", "job", "instance"]
    assert variables["datasource"]["type"] == "datasource"
    source = {"type": "prometheus", "uid": "${datasource}"}
    used = [variables["job"], variables["instance"], *GRAPHS]
    used += [target for panel in GRAPHS for target in panel["targets"]]
    assert all(each["datasource"] == source for each in used)


def test_each_expression_uses_metrics_and_labels_that_exist() -> None:
    known = labels_by_sample()
    found = {text: [*mistakes(text, known)] for text in expressions()}
    assert {text: lines for text, lines in found.items() if lines} == {}


def test_each_expression_is_about_the_chosen_job_and_instances() -> None:
    for text in expressions():
        assert all({"job", "instance"} <= labels for _, labels in selectors(text)), text


def test_each_metric_is_on_the_dashboard() -> None:
    shown = {name for text in expressions() for name, _ in selectors(text)}
    missing = [
        metric.name
        for metric in load_all_metrics()
        if not any(name.startswith(metric.name) for name in shown)
    ]
    assert missing == []


def test_promtool_accepts_each_expression(tmp_path: Path) -> None:
    rules = [{"record": f"panel_{i}", "expr": text} for i, text in enumerate(expressions())]
    file = tmp_path / "dashboard.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    process = promtool("check", "rules", file)
    assert process.returncode == 0, process.stdout + process.stderr
    assert f"{len(rules)} rules found" in process.stdout
