"""What many processes count comes to one place, whatever happens to them."""

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
from runtime.metrics.process_files import BYTES, MetricFiles, merge_dead_process_files
from runtime.metrics.registry import Counter, Gauge, Histogram, MetricsSwitch, all_metrics


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only what a test defines itself."""
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    all_metrics[:], kept = [], all_metrics[:]
    monkeypatch.setattr("runtime.metrics.registry.before_each_flush", [])
    monkeypatch.setattr("runtime.metrics.process_files.before_each_flush", [])
    yield
    all_metrics[:] = kept


def dead_process() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def shown(folder: Path) -> dict[tuple[str, ...], float]:
    """By name and labels."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))
    text = generate_latest(registry).decode()
    return {
        (sample.name.removeprefix("emailvalidation_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.usefixtures("own")
def test_the_counts_of_all_processes_are_added_up(tmp_path: Path) -> None:
    count = Counter("things", "Things.", ("kind",), at_first=("good", "bad"))
    for process in (os.getpid(), os.getppid()):
        files = MetricFiles(tmp_path, process)
        count.add("good", amount=2)
        files.write()
        count.add("good")
        files.write()
        files.write()
        files.close()
    assert shown(tmp_path) == {("things_total", "good"): 6, ("things_total", "bad"): 0}


@pytest.mark.usefixtures("own")
def test_a_spread_says_how_many_were_below_each_bound(tmp_path: Path) -> None:
    times = Histogram("times_seconds", "Times.", bounds=(0.1, 1.0))
    files = MetricFiles(tmp_path, os.getpid())
    for value in (0.05, 0.1, 0.5, 7.0):
        times.add(value)
        files.write()
    files.close()
    assert shown(tmp_path) == {
        ("times_seconds_bucket", "0.1"): 2,
        ("times_seconds_bucket", "1.0"): 3,
        ("times_seconds_bucket", "+Inf"): 4,
        ("times_seconds_count",): 4,
        ("times_seconds_sum",): pytest.approx(7.65),
    }


@pytest.mark.usefixtures("own")
def test_what_a_dead_process_counted_stays_and_what_it_was_does_not(tmp_path: Path) -> None:
    count, now = Counter("things", "Things."), Gauge("in_hand", "Now.")
    last = Gauge("last_seconds", "Then.", mode="mostrecent")
    for process, value in ((dead_process(), 1), (dead_process(), 2), (os.getpid(), 4)):
        files = MetricFiles(tmp_path, process)
        for metric in (now, last):
            metric.set(value)
        count.add(amount=value)
        files.write()
        files.close()
    before = shown(tmp_path)
    merge_dead_process_files(tmp_path)
    merge_dead_process_files(tmp_path)
    assert before == {("things_total",): 7, ("in_hand",): 7, ("last_seconds",): 4}
    assert shown(tmp_path) == {**before, ("in_hand",): 4}
    names = {path.stem.rpartition("_")[2] for path in tmp_path.glob("*.db")}
    assert names == {"0", str(os.getpid())}


@pytest.mark.usefixtures("own")
def test_a_process_with_a_number_that_was_used_before_counts_on(tmp_path: Path) -> None:
    count = Counter("things", "Things.")
    for _ in range(3):
        files = MetricFiles(tmp_path, os.getpid())
        count.add()
        files.write()
        files.close()
    assert shown(tmp_path) == {("things_total",): 3}


@pytest.mark.usefixtures("own")
def test_more_than_there_is_room_for_is_left_out(tmp_path: Path) -> None:
    count = Counter("things", "Things.", ("kind",))
    files = MetricFiles(tmp_path, os.getpid())
    for number in range(20_000):
        count.add(str(number))
    files.write()
    assert 1_000 < len(shown(tmp_path)) < 20_000
    assert {path.stat().st_size for path in tmp_path.glob("*.db")} == {BYTES}
    files.close()


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process may grow beyond some bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("own")
def test_on_a_disk_that_is_full_it_waits_and_loses_nothing(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.METRICS_ADDRESS, settings.METRICS_DIR = ("127.0.0.1", 9100), tmp_path
    monkeypatch.setattr("runtime.flusher.RETRY_SECONDS", 0)
    count = Counter("things", "Things.")
    pulse = Flusher("web")
    count.add()
    with full_disk():
        pulse.flush()
    assert not list(tmp_path.glob("*"))
    count.add()
    pulse.end()
    assert shown(tmp_path)["things_total",] == 2


@pytest.mark.usefixtures("own")
def test_where_metrics_are_off_nothing_is_added_up_or_written(
    tmp_path: Path, settings: Settings
) -> None:
    settings.METRICS_ADDRESS, settings.METRICS_DIR = None, tmp_path
    count, times = Counter("things", "Things."), Histogram("times_seconds", "Times.")
    gauge = Gauge("now", "Now.")
    pulse = Flusher("web")
    count.add()
    times.add(1.0)
    gauge.set(1)
    pulse.flush()
    assert (count.take(), times.take(), gauge.take()) == ({}, {}, {})
    assert not list(tmp_path.glob("*"))


@pytest.mark.django_db
def test_the_background_worker_says_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    queue_mail(to="jane@shop.example", subject="One", text="", html="")
    time.sleep(0.01)
    measure()
    told: dict[str, Any] = {}
    for metric in all_metrics:
        if isinstance(metric, Gauge) and metric.mode == "mostrecent":
            told[metric.name.removeprefix("emailvalidation_")] = metric.take().get((), None)
    assert told["mails_waiting"] == 1
    assert 0 < told["mails_oldest_waiting_seconds"] < 60
    assert 0 < told["mails_overdue_seconds"] < 60
    assert told["daily_work_done_for_timestamp_seconds"] == 0
    assert abs(told["background_worker_seen_timestamp_seconds"] - time.time()) < 60
