"""Requests that the OpenAPI description allows or forbids get the responses it describes.

Schemathesis generates them, against a running product.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.conftest import FuzzedProduct
from tests.fuzz.exploration import SECONDS
from tests.servers.product import ROOT

pytestmark = [pytest.mark.process, pytest.mark.proof]

PHASES = ("--phases", "examples,coverage,fuzzing,stateful")
QUICK = (*PHASES, "--max-examples", "20", "--seed", "1")
LONG = (*PHASES, "--max-examples", "1000000", "--max-time", f"{SECONDS:.0f}")
# A schema can't express that an Idempotency-Key must not be reused with another address, that one
# date must not be after another, that a key, a list or an event must belong to the account, or that
# a text must be a domain and an ETag the present one.
SETTINGS = """
hooks = "tests.fuzz.schemathesis_hooks"

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "422"]

[[operations]]
include-operation-id = "show-usage"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400"]

[[operations]]
include-path-regex = "^/v1/validations"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "404"]

[[operations]]
include-operation-id = "replace-domains"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "412"]

[[operations]]
include-path-regex = "^/v1/events"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "404"]

# A list whose unknown addresses are checked again would let it wait for long.
[[operations]]
include-operation-id = "show-list"
parameters = { wait = 0 }

# A webhook must belong to the account, of which it has few, and its URL must be public.
[[operations]]
include-path-regex = "^/v1/webhooks"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "404", "409", "429"]

[[operations]]
include-path-regex = "^/v1/lists"
checks.positive_data_acceptance.expected-statuses = [
    "2xx", "400", "404", "409", "410", "422", "429"
]
"""


@pytest.mark.timeout(0 if SECONDS else 300)
def test_product_conforms_to_its_openapi_description(fuzzed: FuzzedProduct, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)
    process = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run"),
            *(f"{fuzzed.site.url}/docs/openapi.json", "--checks", "all", "--mode", "all"),
            *("--header", f"Authorization: Bearer {fuzzed.key}", "--no-color"),
            *("--suppress-health-check", "all", *(LONG if SECONDS else QUICK)),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    generated = re.search(r"([\d,]+) generated", process.stdout)
    assert generated, process.stdout
    assert int(generated[1].replace(",", "")) > (0 if SECONDS else 100)
