"""Run Schemathesis, which tests a running product against its OpenAPI description."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.servers.product import ROOT, Product

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


def check_conformance(
    site: Product, secret: str, folder: Path, *options: str, seconds: float = 110
) -> int:
    """Return the number of generated cases, or fail with the report of any violation."""
    (folder / "schemathesis.toml").write_text(SETTINGS)
    process = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{site.url}/docs/openapi.json"),
            *("--header", f"Authorization: Bearer {secret}", "--checks", "all", "--mode", "all"),
            *("--suppress-health-check", "all", "--no-color", *options),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    generated = re.search(r"([\d,]+) generated", process.stdout)
    assert generated, process.stdout
    return int(generated[1].replace(",", ""))
