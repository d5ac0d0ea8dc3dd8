import os
import sys
from pathlib import Path

from config.settings.environment import Environment

# Read when prometheus_client is imported.
_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def metrics_address(env: Environment, port: int) -> tuple[str, int] | None:
    os.environ.pop(_VARIABLE, None)
    address = env.listener("METRICS_PORT")
    if address is not None and address[1] == port:
        env.report("METRICS_PORT", "must be another port than PORT.")
    return address


def enable_metrics(env: Environment, folder: Path, program: Path, serves_web: bool) -> None:
    """Let web workers, background worker, list and webhook processes count in files."""
    if serves_web or sys.argv[1:2] in (["run_worker"], ["run_lists"], ["run_webhooks"]):
        os.environ[_VARIABLE] = str(env.folder(_VARIABLE, folder, outside=program))
