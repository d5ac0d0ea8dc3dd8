"""Counts of all processes are added up, including those of processes that ended."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.urls import get_resolver
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.mmap_dict import mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families

from runtime.jobs.queue_metrics import measure
from runtime.logging import access_log, routes
from runtime.mail.outbox import queue_mail
from runtime.metrics.process_files import (
    FILE_BYTES,
    SERIES_BYTES,
    create_process_files,
    merge_ended_processes,
)
from tests.servers.disk import small_disk
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
LIMIT_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
"""


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


def test_values_of_ended_processes_stay_except_those_of_live_gauges(tmp_path: Path) -> None:
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
        merge_ended_processes(tmp_path)
        alive = {first.pid, second.pid}
        expected |= {("in_progress",): 3, ("largest_bytes",): 2}
        assert exported(tmp_path) == pytest.approx(expected)
        assert process_ids(tmp_path) == {0, *alive}
        first.communicate()
        second.communicate()
    del expected["in_progress",], expected["largest_bytes",]
    for _ in range(2):
        merge_ended_processes(tmp_path)
        assert exported(tmp_path) == pytest.approx(expected)
        assert process_ids(tmp_path) == {0}


def test_process_with_a_reused_id_adds_to_the_counts(tmp_path: Path) -> None:
    same_id = "import os; os.getpid = lambda: 1_000_000_000\n"
    for _ in range(3):
        run(tmp_path, same_id + DEFINITIONS + UPDATE)
    assert process_ids(tmp_path) == {1_000_000_000}
    assert exported(tmp_path)["things_total",] == 3


def test_files_do_not_pile_up_and_have_no_holes(tmp_path: Path) -> None:
    """Writing to a part of a mapped file that the disk has no room for would kill the process."""
    many = "for number in range(20_000): kinds.labels(number).inc()\n"
    for code in (many, UPDATE, many, UPDATE):
        run(tmp_path, DEFINITIONS + code)
        merge_ended_processes(tmp_path)
    create_process_files(tmp_path, os.getpid())
    values = exported(tmp_path)
    assert values["kinds_total", "19999"] == 2
    assert values["kinds_total", "good"] == 2
    assert process_ids(tmp_path) == {0, os.getpid()}
    for path in tmp_path.iterdir():
        assert path.stat().st_blocks * 512 >= path.stat().st_size


def test_process_for_which_the_disk_has_no_room_starts_and_says_so(tmp_path: Path) -> None:
    output = run(tmp_path, LIMIT_FILES + DEFINITIONS + UPDATE + "print(METRICS_ON)")
    assert "False" in output
    assert "This process exports no metrics until it restarts" in output
    assert not list(tmp_path.iterdir())


def test_ended_processes_count_while_the_disk_has_no_room_to_merge_them(tmp_path: Path) -> None:
    run(tmp_path, DEFINITIONS + UPDATE)
    before = exported(tmp_path)
    merge = (
        "from pathlib import Path\n"
        "from runtime.metrics.process_files import merge_ended_processes\n"
        "merge_ended_processes(Path({!r}))"
    )
    run(None, LIMIT_FILES + merge.format(str(tmp_path)))
    del before["in_progress",], before["largest_bytes",]
    assert exported(tmp_path) == before
    assert len(process_ids(tmp_path)) == 1
    merge_ended_processes(tmp_path)
    assert process_ids(tmp_path) == {0}
    assert exported(tmp_path)["things_total",] == 1


@pytest.mark.fault
def test_full_disk_does_not_kill_a_running_process(tmp_path: Path) -> None:
    code = """
sys.stdin.readline()
for number in range(5_000): kinds.labels(number).inc()
print("alive")
"""
    with small_disk(tmp_path / "disk", megabytes=16) as disk:
        if disk is None:
            pytest.skip("Mounting a small file system needs root.")
        folder = disk.folder / "metrics"
        with process(folder, DEFINITIONS + "print(METRICS_ON, flush=True)" + code) as running:
            assert running.stdout
            assert running.stdout.readline() == "True\n"
            disk.fill()
            assert running.communicate("\n")[0] == "alive\n"
        assert exported(folder)["kinds_total", "4999"] == 1
        merge_ended_processes(folder)
        assert exported(folder)["kinds_total", "4999"] == 1


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


def test_counter_file_has_room_for_every_route_with_every_method() -> None:
    names = {routes._readable(route) for route in _routes(get_resolver())}
    labels = ("part", "route", "method", "status", "code")
    name = "emailvalidation_http_requests"
    size = sum(
        SERIES_BYTES
        + len(mmap_key(name, f"{name}_total", labels, ("page", route, method, "405", "x" * 20), ""))
        for route in names
        for method in (*access_log.METHODS, "other")
        for _ in range(2)
    )
    assert len(names) > 100
    assert size < FILE_BYTES["counter"]


def _routes(resolver: object, prefix: str = "") -> Iterator[str]:
    for pattern in getattr(resolver, "url_patterns", ()):
        route = f"{prefix}{pattern.pattern}"
        yield route
        yield from _routes(pattern, route)


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
