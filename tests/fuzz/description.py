"""Schemathesis: reads the API description, and holds a product that runs to every word of it."""

import re
import subprocess
import sys
from pathlib import Path

from tests.servers.product import Product

# No schema can say that an Idempotency-Key must not have come with another address before, nor that
# one day must not be after another, and a key one of the account's own.
SETTINGS = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "422"]

[[operations]]
include-operation-id = "show-usage"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400"]
"""


def hold_to_description(
    site: Product, secret: str, folder: Path, *how: str, seconds: float = 110
) -> int:
    """How many cases it made. What is not as described is in the error."""
    (folder / "schemathesis.toml").write_text(SETTINGS)
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{site.url}/docs/openapi.json"),
            *("--header", f"Authorization: Bearer {secret}", "--checks", "all", "--mode", "all"),
            *("--suppress-health-check", "all", "--no-color", *how),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    made = re.search(r"([\d,]+) generated", ended.stdout)
    assert made, ended.stdout
    return int(made[1].replace(",", ""))
