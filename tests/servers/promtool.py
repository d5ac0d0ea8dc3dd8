"""promtool, which checks and tests Prometheus's rules."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.servers.product import ROOT

MISSING = "The tests of the alerts need promtool: run `make promtool`."


def promtool(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [_program(), *arguments], capture_output=True, text=True, check=False, timeout=100
    )


def _program() -> str:
    # `make promtool` puts it into the virtual environment.
    program = shutil.which("promtool", path=f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}")
    if program:
        return program
    if os.environ.get("JOURNEYS") == "required":
        pytest.fail(MISSING)
    pytest.skip(MISSING)
