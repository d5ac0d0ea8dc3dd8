"""Run a module like a web worker: in a separate process, patched by gevent."""

import os
import subprocess
import sys
from pathlib import Path

from tests.servers.product import ROOT


def run_patched(module: str, folder: Path) -> str:
    """Return the output of the module, which must patch itself before its other imports."""
    process = subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return process.stdout
