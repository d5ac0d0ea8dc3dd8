"""Where the processes of one machine keep what they counted: files of prometheus-client's form,
whose collector adds them up for the one process that is asked (runtime/metrics/exporter.py).

What a process counted stays when it is gone: its files are then put into those of the dead.
"""

import os
import time
from pathlib import Path

from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.utils import floatToGoString

from runtime.metrics.registry import (
    Counter,
    Gauge,
    Histogram,
    Metric,
    all_metrics,
    before_each_flush,
)

# No process has this number.
THE_DEAD = 0
KINDS = ("counter", "histogram", "gauge_livesum", "gauge_livemax", "gauge_mostrecent")
# Room that is taken when a file is made: many times what is needed.
BYTES = 512 * 1024
_LONGEST_SERIES = 4096


class File(MmapedDict):  # type: ignore[misc]
    """Of one kind of metrics of one process, mapped into its memory."""

    def add(self, key: str, amount: float) -> None:
        if self._has_room_for(key):
            self.write_value(key, self.read_value(key)[0] + amount, 0.0)

    def set(self, key: str, value: float, at: float) -> None:
        if self._has_room_for(key) and at >= self.read_value(key)[1]:
            self.write_value(key, value, at)

    def _has_room_for(self, key: str) -> bool:
        """What does not fit is left out: the file must not grow, see _take_room."""
        return key in self._positions or self._used + _LONGEST_SERIES < BYTES


class MetricFiles:
    """Those of one process."""

    def __init__(self, folder: Path, process: int) -> None:
        """Raises OSError where there is no room for them."""
        self._files = {kind: _open(folder / f"{kind}_{process}.db") for kind in KINDS}

    def write(self) -> None:
        """What was added since the last time."""
        for add in before_each_flush:
            add()
        for metric in all_metrics:
            if isinstance(metric, Counter):
                self._add_count(metric)
            elif isinstance(metric, Histogram):
                self._add_histogram(metric)
            elif isinstance(metric, Gauge):
                self._set_gauge(metric)

    def take_over(self, path: Path) -> None:
        """What a process that is gone has left behind."""
        kind = path.stem.rpartition("_")[0]
        if not kind.startswith("gauge_live"):
            for key, value, at, _ in File.read_all_values_from_file(str(path)):
                if kind.startswith("gauge"):
                    self._files[kind].set(key, value, at)
                else:
                    self._files[kind].add(key, value)
        path.unlink()

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _add_count(self, metric: Counter) -> None:
        added = metric.take()
        for values in metric.known:
            added.setdefault(values, 0)
        metric.known = []
        for values, amount in added.items():
            self._files["counter"].add(_key(metric, f"{metric.name}_total", values), amount)

    def _add_histogram(self, metric: Histogram) -> None:
        file = self._files["histogram"]
        bounds = [*map(floatToGoString, metric.bounds), "+Inf"]
        for values, spread in metric.take().items():
            for bound, count in zip(bounds, spread.counts, strict=True):
                # Also those with nothing: a bucket that is absent is no zero.
                file.add(_key(metric, f"{metric.name}_bucket", values, le=bound), count)
            file.add(_key(metric, f"{metric.name}_sum", values), spread.sum)

    def _set_gauge(self, metric: Gauge) -> None:
        for values, now in metric.take().items():
            key = _key(metric, metric.name, values)
            self._files[f"gauge_{metric.mode}"].set(key, now, time.time())


def merge_dead_process_files(folder: Path) -> None:
    """By the one process that is asked for metrics."""
    dead = [path for path in sorted(folder.glob("*.db")) if not _is_alive(_process_of(path))]
    if dead:
        files = MetricFiles(folder, THE_DEAD)
        try:
            for path in dead:
                files.take_over(path)
        finally:
            files.close()


def _key(metric: Metric, sample: str, values: tuple[str, ...], **more: str) -> str:
    names = [*metric.labels, *more]
    key: str = mmap_key(metric.name, sample, names, [*values, *more.values()], metric.says)
    return key


def _open(path: Path) -> File:
    if not path.exists():
        _take_room(path)
    return File(str(path))


def _take_room(path: Path) -> None:
    """All of it is written: on a disk that is full this raises an error, while a mapped page that
    the disk has no room for ends the process by a signal. Whoever reads sees it whole or not."""
    draft = path.with_suffix(".new")
    try:
        draft.write_bytes(bytes(BYTES))
        draft.rename(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _process_of(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _is_alive(process: int) -> bool:
    if process == THE_DEAD:
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, PermissionError):
        # Or it is somebody else's now, with a number that was ours.
        return False
    return True
