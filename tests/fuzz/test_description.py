"""Whatever the API description allows, or forbids, is answered as it says."""

from pathlib import Path

import pytest

from tests.fuzz.conftest import Fuzzed
from tests.fuzz.description import hold_to_description
from tests.fuzz.effort import SECONDS, counts

pytestmark = pytest.mark.process

QUICK = ("--phases", "fuzzing,stateful", "--max-examples", "8", "--seed", "1")
LONG = ("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "1000000")


def test_any_call_of_the_description_is_answered_as_it_says(fuzzed: Fuzzed, tmp_path: Path) -> None:
    how = (*LONG, "--max-time", f"{SECONDS:.0f}") if SECONDS else QUICK
    made = hold_to_description(fuzzed.site, fuzzed.key, tmp_path, *how, seconds=SECONDS * 2 + 110)
    counts.add(made)
    counts.write()
    assert made > (0 if SECONDS else 20)
