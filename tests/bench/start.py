"""Measure a second `make serve`, and the memory of its processes."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil

from tests.bench.processes import cpu_seconds, workers
from tests.bench.table import Metric
from tests.servers.product import ROOT, Product

ROUNDS = 5
# Until the processes have done what they do after "Ready.".
SETTLE_SECONDS = 2
MODELS = "import django; django.setup()"
# The most a process may hold, in MB.
LIMITS = {"supervisor": 25.0, "gunicorn's main process": None, "largest web worker": 110.0}
COMMANDS = {
    "background worker": "run_worker",
    "list process": "run_lists",
    "webhook process": "run_webhooks",
}


class Start(NamedTuple):
    seconds: float
    # Relative to a process that loads settings and models and ends.
    cpu: float
    megabytes: dict[str, float]


def measure(print_progress: Callable[[str], None]) -> list[Metric]:
    with TemporaryDirectory(prefix="bench-") as folder:
        # Creates tables and collects static files.
        _start(Path(folder))
        starts: list[Start] = []
        for number in range(1, ROUNDS + 1):
            starts.append(_start(Path(folder)))
            print_progress(f"Start {number} of {ROUNDS} is done.")
    return [
        Metric("seconds until it is ready", [start.seconds for start in starts], at_most=2.5),
        Metric(
            "CPU until it is ready, relative to loading settings and models",
            [start.cpu for start in starts],
        ),
        *(
            Metric(
                f"{name}: memory, MB",
                [start.megabytes[name] for start in starts],
                at_most=LIMITS.get(name),
            )
            for name in (*LIMITS, *COMMANDS)
        ),
    ]


def _start(folder: Path) -> Start:
    baseline = _cpu_of_models(folder)
    (folder / "serve.log").unlink(missing_ok=True)
    started_at = time.perf_counter()
    site = Product(folder, LIST_PROCESSES="1", WEBHOOK_PROCESSES="1")
    try:
        site.wait_until_ready()
        seconds = time.perf_counter() - started_at
        cpu = cpu_seconds([site.process.pid]) / baseline
        time.sleep(SETTLE_SECONDS)
        return Start(seconds, cpu, _megabytes(site.process.pid))
    finally:
        site.stop()


def _cpu_of_models(folder: Path) -> float:
    environment = {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    before = _children_cpu()
    subprocess.run([sys.executable, "-c", MODELS], cwd=ROOT, env=environment, check=True)
    return _children_cpu() - before


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _megabytes(supervisor: int) -> dict[str, float]:
    """Return the proportional set size of each process: pages that several share count in parts."""
    web = workers(supervisor)
    (main,) = {worker.parent() for worker in web}
    assert main is not None
    commands = {
        name: next(
            child for child in psutil.Process(supervisor).children() if command in child.cmdline()
        )
        for name, command in COMMANDS.items()
    }
    return {
        "supervisor": _pss(psutil.Process(supervisor)),
        "gunicorn's main process": _pss(main),
        "largest web worker": max(map(_pss, web)),
        **{name: _pss(process) for name, process in commands.items()},
    }


def _pss(process: psutil.Process) -> float:
    return float(process.memory_full_info().pss) / 1e6
