"""The clients' types are those of the OpenAPI document."""

import subprocess
import sys

import pytest

from tests.servers.product import ROOT

PROGRAM = """
from tools.client_types.__main__ import write_all
print([str(file) for file, text in write_all().items() if file.read_text() != text])
"""


@pytest.mark.process
def test_types_are_up_to_date() -> None:
    """If not: `python -m tools.client_types`."""
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert process.stdout == "[]\n"
