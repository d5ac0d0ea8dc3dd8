"""Requests that the OpenAPI description allows or forbids get the responses it describes."""

from pathlib import Path

import pytest

from tests.fuzz.conftest import FuzzedProduct
from tests.fuzz.exploration import SECONDS
from tests.fuzz.openapi import check_conformance

pytestmark = [pytest.mark.process, pytest.mark.proof]

QUICK = ("--phases", "fuzzing,stateful", "--max-examples", "8", "--seed", "1")
LONG = ("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "1000000")


def test_product_conforms_to_its_openapi_description(fuzzed: FuzzedProduct, tmp_path: Path) -> None:
    options = (*LONG, "--max-time", f"{SECONDS:.0f}") if SECONDS else QUICK
    cases = check_conformance(
        fuzzed.site, fuzzed.key, tmp_path, *options, seconds=SECONDS * 2 + 110
    )
    assert cases > (0 if SECONDS else 20)
