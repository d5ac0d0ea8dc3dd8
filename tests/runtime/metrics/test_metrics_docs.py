"""docs/metrics.md names every metric there is, and none that is not."""

import re

import pytest

from tests.support.docs_metrics import DOCUMENT, known, sample_names, table

pytestmark = pytest.mark.anywhere


def test_the_table_is_the_one_of_the_code() -> None:
    """`python -m tests.support.docs_metrics --write` writes it anew."""
    assert f"\n\n{table()}\n\n" in DOCUMENT.read_text().replace("-->\n\n", "-->\n\n\n")


def test_the_alerts_name_only_what_there_is() -> None:
    named = set(re.findall(r"emailvalidation_\w+", DOCUMENT.read_text()))
    rules = DOCUMENT.read_text().partition("```yaml\ngroups:")[2]
    assert rules.count("expr:") >= 10
    whole = {one.name for one in known()}
    assert named - sample_names() - whole == set()
    assert set(re.findall(r"emailvalidation_\w+", rules)) <= sample_names()


@pytest.mark.parametrize("metric", known(), ids=lambda one: one.name)
def test_a_metric_says_its_unit_and_what_it_is(metric: object) -> None:
    name, says, labels = (getattr(metric, field) for field in ("name", "says", "labels"))
    assert re.fullmatch("emailvalidation_[a-z_]+", name)
    assert not name.endswith("_total")
    assert says.endswith(".") or ":" in says
    if getattr(metric, "kind", "") == "histogram":
        assert name.endswith("_seconds")
    assert not {"account", "key", "ip", "path", "domain", "email"} & set(labels)
