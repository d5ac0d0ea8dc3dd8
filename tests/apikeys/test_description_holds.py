"""Schemathesis reads the API description and holds the running product to every word of it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.keys import make_key
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.proof]

# No schema can say that an Idempotency-Key must not have come with another address before, nor that
# one day must not be after another, and a key one of the account's own.
SETTINGS = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "422"]

[[operations]]
include-operation-id = "show-usage"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400"]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("described")) as running:
        yield running


def test_the_product_does_what_its_description_says(site: Product, tmp_path: Path) -> None:
    secret = make_key(site, "described@shop.example", 1_000_000, credits=1_000_000)
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{site.url}/docs/openapi.json"),
            *("--header", f"Authorization: Bearer {secret}", "--checks", "all", "--mode", "all"),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", "200", "--seed", "1"),
            *("--suppress-health-check", "all", "--no-color"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"[1-9]\d\d+ generated", ended.stdout), ended.stdout
