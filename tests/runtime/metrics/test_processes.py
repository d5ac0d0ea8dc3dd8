"""Counts of processes that ended stay, as long as processes of their time run."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest

from runtime.jobs.queue_metrics import measure
from runtime.mail.outbox import queue_mail
from runtime.metrics.exporter import MetricsCollector, delete_earlier_metrics
from tests.servers.product import ROOT

UPDATE = """
import sys
from runtime.metrics.client import METRICS_ON, Counter, Gauge
Counter("things", "Things.").inc()
Gauge("in_progress", "Now.", multiprocess_mode="livesum").set(1)
"""
WAIT = "\nprint(flush=True); sys.stdin.read()"


@contextmanager
def process(folder: Path | None, code: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a process, which the block can end by closing its input."""
    folders = {"PROMETHEUS_MULTIPROC_DIR": str(folder)} if folder else {}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **folders},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        yield running


def run(folder: Path | None, code: str) -> str:
    """Run a process to its end, and return what it has printed."""
    with process(folder, code) as ended:
        output, errors = ended.communicate()
    assert ended.returncode == 0, errors
    return output + errors


def test_earlier_metrics_are_deleted_unless_one_of_their_processes_runs(tmp_path: Path) -> None:
    """Several pools of web workers may share the folder, and start at different times."""
    registry = CollectorRegistry()
    MetricsCollector(registry, str(tmp_path))
    run(tmp_path, UPDATE)
    with process(tmp_path, UPDATE + WAIT) as other_pool:
        assert other_pool.stdout
        other_pool.stdout.readline()
        # Only what a living process measures is added up.
        exported = generate_latest(registry).decode().splitlines()
        assert {"things_total 2.0", "in_progress 1.0"} <= {*exported}
        (tmp_path / "counter_0.db").touch()
        before = {*tmp_path.glob("*.db")}
        delete_earlier_metrics(tmp_path)
        assert {*tmp_path.glob("*.db")} == before
        other_pool.communicate()
    delete_earlier_metrics(tmp_path)
    assert not list(tmp_path.glob("*.db"))


def test_process_without_metrics_writes_no_files(tmp_path: Path) -> None:
    move = f"import os, sys; sys.path[0] = os.getcwd(); os.chdir({str(tmp_path)!r})"
    assert run(None, move + UPDATE + "print(METRICS_ON)") == "False\n"
    assert not list(tmp_path.iterdir())


def test_gunicorn_master_does_not_load_prometheus_client(tmp_path: Path) -> None:
    """Its workers would inherit the state of its files."""
    modules = "config.server.gunicorn_settings, config.server.gunicorn_logger, config.server.worker"
    logs = "logging.config.dictConfig(log_settings('INFO', 'text')); logging.info('Started')"
    code = f"""
import logging.config, sys
import {modules}
from runtime.logging.dict_config import log_settings
{logs}
print("prometheus_client" in sys.modules)
"""
    assert run(tmp_path, code).startswith("False\n")


@pytest.mark.django_db
def test_background_worker_measures_the_outbox() -> None:
    queue_mail(to="jane@shop.example", subject="One", text="", html="")
    time.sleep(0.01)
    measure()

    def value(name: str) -> float:
        measured = REGISTRY.get_sample_value(f"emailvalidation_{name}")
        assert measured is not None
        return measured

    assert value("mails_waiting") == 1
    assert 0 < value("mails_oldest_waiting_seconds") < 60
    assert 0 < value("mails_overdue_seconds") < 60
    assert value("daily_work_done_for_timestamp_seconds") == 0
    assert abs(value("background_worker_seen_timestamp_seconds") - time.time()) < 60
