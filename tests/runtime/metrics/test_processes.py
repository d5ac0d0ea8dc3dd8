"""prometheus_client adds up the counts of all processes, including processes that ended."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families

from runtime.jobs.queue_metrics import measure
from runtime.mail.outbox import queue_mail
from runtime.metrics.exporter import MetricsCollector, delete_earlier_metrics
from tests.servers.product import ROOT

DEFINITIONS = """
import sys
from runtime.metrics.client import METRICS_ON, Counter, Gauge, Histogram, initialize
things = Counter("things", "Things.")
kinds = Counter("kinds", "Kinds.", ("kind",))
initialize(kinds, ("good", "bad"))
times = Histogram("times_seconds", "Times.", buckets=(0.1, 1.0))
now = Gauge("in_progress", "Now.", multiprocess_mode="livesum")
largest = Gauge("largest_bytes", "Size.", multiprocess_mode="livemax")
last = Gauge("last_seconds", "Then.", multiprocess_mode="mostrecent")
never = Gauge("never_seconds", "Never.", multiprocess_mode="mostrecent")
"""
UPDATE = """
for gauge in (now, largest, last):
    gauge.set(int(sys.argv[1]))
things.inc(int(sys.argv[1]))
kinds.labels("good").inc()
times.observe(0.1)
times.observe(5.0)
"""
WAIT = "\nprint(flush=True); sys.stdin.read()"


@contextmanager
def process(folder: Path | None, code: str, value: int = 1) -> Iterator["subprocess.Popen[str]"]:
    """Start a process, which the block can end by closing its input."""
    folders = {"PROMETHEUS_MULTIPROC_DIR": str(folder)} if folder else {}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(value)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **folders},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        yield running


def run(folder: Path | None, code: str, value: int = 1) -> str:
    """Run a process to its end, and return what it has printed."""
    with process(folder, code, value) as ended:
        output, errors = ended.communicate()
    assert ended.returncode == 0, errors
    return output + errors


def exported(folder: Path) -> dict[tuple[str, ...], float]:
    """Return the exported values by name and labels."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))
    text = generate_latest(registry).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def process_ids(folder: Path) -> set[int]:
    return {int(path.stem.rpartition("_")[2]) for path in folder.glob("*.db")}


def test_values_of_ended_processes_stay_except_live_gauges(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    MetricsCollector(registry, str(tmp_path))
    code = DEFINITIONS + UPDATE + WAIT
    with process(tmp_path, code, 1) as first, process(tmp_path, code, 2) as second:
        assert first.stdout
        assert second.stdout
        first.stdout.readline()
        second.stdout.readline()
        run(tmp_path, DEFINITIONS + UPDATE, 4)
        expected: dict[tuple[str, ...], float] = {
            ("things_total",): 7,
            ("kinds_total", "good"): 3,
            ("kinds_total", "bad"): 0,
            ("times_seconds_bucket", "0.1"): 3,
            ("times_seconds_bucket", "1.0"): 3,
            ("times_seconds_bucket", "+Inf"): 6,
            ("times_seconds_count",): 6,
            ("times_seconds_sum",): 15.3,
            ("in_progress",): 7,
            ("largest_bytes",): 4,
            ("last_seconds",): 4,
        }
        assert exported(tmp_path) == pytest.approx(expected)
        generate_latest(registry)
        expected |= {("in_progress",): 3, ("largest_bytes",): 2}
        assert exported(tmp_path) == pytest.approx(expected)
        first.communicate()
        second.communicate()
    generate_latest(registry)
    del expected["in_progress",], expected["largest_bytes",]
    assert exported(tmp_path) == pytest.approx(expected)


def test_earlier_metrics_are_deleted_unless_one_of_their_processes_runs(tmp_path: Path) -> None:
    """Several pools of web workers may share the folder, and start at different times."""
    (tmp_path / "counter_0.db").touch()
    run(tmp_path, DEFINITIONS + UPDATE, 4)
    with process(tmp_path, DEFINITIONS + UPDATE + WAIT, 1) as other_pool:
        assert other_pool.stdout
        other_pool.stdout.readline()
        before = process_ids(tmp_path)
        delete_earlier_metrics(tmp_path)
        assert process_ids(tmp_path) == before
        other_pool.communicate()
    delete_earlier_metrics(tmp_path)
    assert process_ids(tmp_path) == set()


def test_process_without_metrics_writes_no_files(tmp_path: Path) -> None:
    move = f"import os, sys; sys.path[0] = os.getcwd(); os.chdir({str(tmp_path)!r})"
    assert run(None, move + DEFINITIONS + "print(METRICS_ON)") == "False\n"
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
