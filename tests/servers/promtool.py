"""promtool, which checks and tests Prometheus's rules."""

import subprocess
from pathlib import Path

from tests.servers.installed import find_program
from tests.servers.product import ROOT


def promtool(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    # `make promtool` puts it into the virtual environment.
    program = find_program("promtool", str(ROOT / ".venv" / "bin"))
    command = [program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
