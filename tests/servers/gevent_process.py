"""Runs a module as a web worker runs: in a process of its own, patched by gevent."""

import os
import subprocess
import sys
from pathlib import Path

from tests.servers.product import ROOT


def run_patched(module: str, folder: Path) -> str:
    """What it prints. The module patches itself before it imports anything else."""
    ended = subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ended.stdout
