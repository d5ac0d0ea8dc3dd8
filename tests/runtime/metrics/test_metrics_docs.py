"""docs/metrics.md lists exactly the metrics that exist."""

import re

import pytest

from tests.support.docs_metrics import DOCUMENT, load_all_metrics, render_table, sample_names

pytestmark = pytest.mark.anywhere


def test_table_matches_the_code() -> None:
    """Update the table with `python -m tests.support.docs_metrics --write`."""
    assert f"\n\n{render_table()}\n\n" in DOCUMENT.read_text().replace("-->\n\n", "-->\n\n\n")


def test_alerts_use_only_existing_metrics() -> None:
    named = set(re.findall(r"emailvalidation_\w+", DOCUMENT.read_text()))
    rules = DOCUMENT.read_text().partition("```yaml\ngroups:")[2]
    assert rules.count("expr:") >= 10
    names = {metric.name for metric in load_all_metrics()}
    assert named - sample_names() - names == set()
    assert set(re.findall(r"emailvalidation_\w+", rules)) <= sample_names()


@pytest.mark.parametrize("metric", load_all_metrics(), ids=lambda metric: metric.name)
def test_metric_has_a_unit_and_a_help_text(metric: object) -> None:
    name, help_text, labels = (getattr(metric, field) for field in ("name", "help_text", "labels"))
    assert re.fullmatch("emailvalidation_[a-z_]+", name)
    assert not name.endswith("_total")
    assert help_text.endswith(".") or ":" in help_text
    if getattr(metric, "kind", "") == "histogram":
        assert name.endswith("_seconds")
    assert not {"account", "key", "ip", "path", "domain", "email"} & set(labels)
