"""The docs page has the figures of the data and the code in this checkout."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.domain_data import DOMAIN_DATA
from tests.accuracy import measures
from tests.accuracy.__main__ import RESULTS, SOURCES, main

RECORDED = json.loads(RESULTS.read_text())


def test_figures_are_those_of_this_domain_data() -> None:
    assert RECORDED["domain_data"] == DOMAIN_DATA.version, "Run `make accuracy`."


@pytest.mark.parametrize(
    ("group", "measure"),
    [("replies", measures.measure_replies), ("persons", measures.measure_roles)],
)
def test_figures_that_need_no_public_file_are_current(
    group: str, measure: Callable[[], list[measures.Measure]]
) -> None:
    found = {f"{group}_{one.name}": [one.count, one.total] for one in measure()}
    assert found.items() <= RECORDED["figures"].items(), "Run `make accuracy`."


def test_missing_files_are_named_with_their_sources(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as refused:
        main(tmp_path)
    assert all(f"{name}: {source}" in str(refused.value) for name, source in SOURCES.items())
