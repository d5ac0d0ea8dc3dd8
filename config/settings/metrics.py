"""Which processes record metrics, and where they are exported."""

import os
import sys
from pathlib import Path

from config.settings.environment import Environment

# prometheus_client reads this variable when it's imported.
_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def metrics_address(env: Environment, port: int) -> tuple[str, int] | None:
    os.environ.pop(_VARIABLE, None)
    address = env.listener("METRICS_PORT")
    if address is not None and address[1] == port:
        env.report("METRICS_PORT", "must be another port than PORT.")
    return address


def enable_metrics(folder: Path, serves_web: bool) -> None:
    """Let the machine's processes share their metrics through files in the folder.

    Commands other than the background and list workers record none.
    """
    if serves_web or sys.argv[1:2] in (["run_worker"], ["run_lists"]):
        os.environ[_VARIABLE] = str(folder)
