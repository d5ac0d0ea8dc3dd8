"""docs/metrics.md lists exactly the metrics that exist."""

import re

import pytest

from tests.support.docs_metrics import DOCUMENT, load_all_metrics, render_table, sample_names

pytestmark = pytest.mark.anywhere


def test_table_matches_the_code() -> None:
    """Update the table with `python -m tests.support.docs_metrics --write`."""
    assert f"-->\n{render_table()}\n<!--" in DOCUMENT.read_text()


def test_document_names_only_existing_metrics() -> None:
    named = set(re.findall(r"emailvalidation_\w+", DOCUMENT.read_text()))
    assert named - sample_names() - {metric.name for metric in load_all_metrics()} == set()


def test_metric_has_a_unit_and_a_help_text() -> None:
    for metric in load_all_metrics():
        assert re.fullmatch("emailvalidation_[a-z_]+", metric.name)
        assert not metric.name.endswith("_total"), metric.name
        assert metric.help_text.endswith(".") or ":" in metric.help_text
        if metric.kind == "histogram":
            assert metric.name.endswith("_seconds")
        assert not {"account", "key", "ip", "path", "domain", "email"} & set(metric.labels)
        # Prometheus would rename these to exported_job and exported_instance.
        assert not {"job", "instance"} & set(metric.labels)
