"""Counts of all processes are summed up, including those of processes that died."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from runtime.flusher import Flusher
from runtime.jobs.queue_metrics import measure
from runtime.mail.outbox import queue_mail
from runtime.metrics.process_files import FILE_BYTES, MetricFiles, merge_dead_process_files
from runtime.metrics.registry import Counter, Gauge, Histogram, MetricsSwitch, all_metrics


@pytest.fixture
def only_own_metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use only the metrics that the test defines."""
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    all_metrics[:], saved = [], all_metrics[:]
    monkeypatch.setattr("runtime.metrics.registry.before_each_flush", [])
    monkeypatch.setattr("runtime.metrics.process_files.before_each_flush", [])
    yield
    all_metrics[:] = saved


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def exported(folder: Path) -> dict[tuple[str, ...], float]:
    """Return the exported values by name and labels."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))
    text = generate_latest(registry).decode()
    return {
        (sample.name.removeprefix("emailvalidation_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.usefixtures("only_own_metrics")
def test_counts_of_all_processes_are_added_up(tmp_path: Path) -> None:
    count = Counter("things", "Things.", ("kind",), initial_labels=("good", "bad"))
    for process in (os.getpid(), os.getppid()):
        files = MetricFiles(tmp_path, process)
        count.add("good", amount=2)
        files.write()
        count.add("good")
        files.write()
        files.write()
        files.close()
    assert exported(tmp_path) == {("things_total", "good"): 6, ("things_total", "bad"): 0}


@pytest.mark.usefixtures("only_own_metrics")
def test_histogram_counts_values_up_to_each_bound(tmp_path: Path) -> None:
    times = Histogram("times_seconds", "Times.", bounds=(0.1, 1.0))
    files = MetricFiles(tmp_path, os.getpid())
    for value in (0.05, 0.1, 0.5, 7.0):
        times.add(value)
        files.write()
    files.close()
    assert exported(tmp_path) == {
        ("times_seconds_bucket", "0.1"): 2,
        ("times_seconds_bucket", "1.0"): 3,
        ("times_seconds_bucket", "+Inf"): 4,
        ("times_seconds_count",): 4,
        ("times_seconds_sum",): pytest.approx(7.65),
    }


@pytest.mark.usefixtures("only_own_metrics")
def test_counts_of_a_dead_process_stay_and_its_gauges_do_not(tmp_path: Path) -> None:
    count, now = Counter("things", "Things."), Gauge("in_progress", "Now.")
    last = Gauge("last_seconds", "Then.", mode="mostrecent")
    for process, value in ((dead_process(), 1), (dead_process(), 2), (os.getpid(), 4)):
        files = MetricFiles(tmp_path, process)
        for metric in (now, last):
            metric.set(value)
        count.add(amount=value)
        files.write()
        files.close()
    before = exported(tmp_path)
    merge_dead_process_files(tmp_path)
    merge_dead_process_files(tmp_path)
    assert before == {("things_total",): 7, ("in_progress",): 7, ("last_seconds",): 4}
    assert exported(tmp_path) == {**before, ("in_progress",): 4}
    names = {path.stem.rpartition("_")[2] for path in tmp_path.glob("*.db")}
    assert names == {"0", str(os.getpid())}


@pytest.mark.usefixtures("only_own_metrics")
def test_process_with_a_reused_id_adds_to_the_counts(tmp_path: Path) -> None:
    count = Counter("things", "Things.")
    for _ in range(3):
        files = MetricFiles(tmp_path, os.getpid())
        count.add()
        files.write()
        files.close()
    assert exported(tmp_path) == {("things_total",): 3}


@pytest.mark.usefixtures("only_own_metrics")
def test_series_that_do_not_fit_in_the_file_are_left_out(tmp_path: Path) -> None:
    count = Counter("things", "Things.", ("kind",))
    files = MetricFiles(tmp_path, os.getpid())
    for number in range(20_000):
        count.add(str(number))
    files.write()
    assert 1_000 < len(exported(tmp_path)) < 20_000
    assert {path.stat().st_size for path in tmp_path.glob("*.db")} == {FILE_BYTES}
    files.close()


@contextmanager
def full_disk() -> Iterator[None]:
    """Limit the size of the files that this process can write."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("only_own_metrics")
def test_counts_stay_in_memory_while_the_disk_is_full(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.METRICS_ADDRESS, settings.METRICS_DIR = ("127.0.0.1", 9100), tmp_path
    monkeypatch.setattr("runtime.flusher.RETRY_SECONDS", 0)
    count = Counter("things", "Things.")
    flusher = Flusher("web")
    count.add()
    with full_disk():
        flusher.flush()
    assert not list(tmp_path.glob("*"))
    count.add()
    flusher.stop()
    assert exported(tmp_path)["things_total",] == 2


@pytest.mark.usefixtures("only_own_metrics")
def test_nothing_is_recorded_when_metrics_are_off(tmp_path: Path, settings: Settings) -> None:
    settings.METRICS_ADDRESS, settings.METRICS_DIR = None, tmp_path
    count, times = Counter("things", "Things."), Histogram("times_seconds", "Times.")
    gauge = Gauge("now", "Now.")
    flusher = Flusher("web")
    count.add()
    times.add(1.0)
    gauge.set(1)
    flusher.flush()
    assert (count.take(), times.take(), gauge.take()) == ({}, {}, {})
    assert not list(tmp_path.glob("*"))


@pytest.mark.django_db
def test_background_worker_measures_the_outbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    queue_mail(to="jane@shop.example", subject="One", text="", html="")
    time.sleep(0.01)
    measure()
    values: dict[str, Any] = {}
    for metric in all_metrics:
        if isinstance(metric, Gauge) and metric.mode == "mostrecent":
            values[metric.name.removeprefix("emailvalidation_")] = metric.take().get((), None)
    assert values["mails_waiting"] == 1
    assert 0 < values["mails_oldest_waiting_seconds"] < 60
    assert 0 < values["mails_overdue_seconds"] < 60
    assert values["daily_work_done_for_timestamp_seconds"] == 0
    assert abs(values["background_worker_seen_timestamp_seconds"] - time.time()) < 60
