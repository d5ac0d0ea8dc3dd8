"""Store each process's metrics in memory-mapped files, in prometheus-client's format.

The exporter's process sums them up (runtime/metrics/exporter.py). When a process has ended, its
counts are merged into a set of files for all dead processes, so totals never decrease.
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

# The process id in the names of the merged files. No process has it.
DEAD_PROCESSES = 0
KINDS = ("counter", "histogram", "gauge_livesum", "gauge_livemax", "gauge_mostrecent")
# The size of every file: many times what is needed.
FILE_BYTES = 512 * 1024
_MAX_SERIES_BYTES = 4096


class MetricFile(MmapedDict):  # type: ignore[misc]
    """One process's metrics of one kind, mapped into its memory."""

    def add(self, key: str, amount: float) -> None:
        if self._has_room_for(key):
            self.write_value(key, self.read_value(key)[0] + amount, 0.0)

    def set(self, key: str, value: float, at: float) -> None:
        if self._has_room_for(key) and at >= self.read_value(key)[1]:
            self.write_value(key, value, at)

    def _has_room_for(self, key: str) -> bool:
        """Return False for a new series that doesn't fit. The file must not grow: see _allocate."""
        return key in self._positions or self._used + _MAX_SERIES_BYTES < FILE_BYTES


class MetricFiles:
    """The files of one process."""

    def __init__(self, folder: Path, process: int) -> None:
        """Raise OSError if the disk has no room for them."""
        self._files = {kind: _open(folder / f"{kind}_{process}.db") for kind in KINDS}

    def write(self) -> None:
        """Write what was added since the last call."""
        for collect in before_each_flush:
            collect()
        for metric in all_metrics:
            if isinstance(metric, Counter):
                self._add_count(metric)
            elif isinstance(metric, Histogram):
                self._add_histogram(metric)
            elif isinstance(metric, Gauge):
                self._set_gauge(metric)

    def merge(self, path: Path) -> None:
        """Add the counts of a dead process's file, and delete it."""
        kind = path.stem.rpartition("_")[0]
        if not kind.startswith("gauge_live"):
            for key, value, at, _ in MetricFile.read_all_values_from_file(str(path)):
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
        for values in metric.initial:
            added.setdefault(values, 0)
        metric.initial = []
        for values, amount in added.items():
            self._files["counter"].add(_key(metric, f"{metric.name}_total", values), amount)

    def _add_histogram(self, metric: Histogram) -> None:
        file = self._files["histogram"]
        bounds = [*map(floatToGoString, metric.bounds), "+Inf"]
        for values, buckets in metric.take().items():
            for bound, count in zip(bounds, buckets.counts, strict=True):
                # Zeros too: Prometheus needs every bucket.
                file.add(_key(metric, f"{metric.name}_bucket", values, le=bound), count)
            file.add(_key(metric, f"{metric.name}_sum", values), buckets.sum)

    def _set_gauge(self, metric: Gauge) -> None:
        for values, value in metric.take().items():
            key = _key(metric, metric.name, values)
            self._files[f"gauge_{metric.mode}"].set(key, value, time.time())


def merge_dead_process_files(folder: Path) -> None:
    """Merge the files of all dead processes. Only the exporter's process may call this."""
    dead = [path for path in sorted(folder.glob("*.db")) if not _is_alive(_process_id(path))]
    if dead:
        files = MetricFiles(folder, DEAD_PROCESSES)
        try:
            for path in dead:
                files.merge(path)
        finally:
            files.close()


def _key(metric: Metric, sample: str, values: tuple[str, ...], **extra: str) -> str:
    names = [*metric.labels, *extra]
    key: str = mmap_key(metric.name, sample, names, [*values, *extra.values()], metric.help_text)
    return key


def _open(path: Path) -> MetricFile:
    if not path.exists():
        _allocate(path)
    return MetricFile(str(path))


def _allocate(path: Path) -> None:
    """Create a file by writing all its bytes.

    On a full disk this raises OSError. Writing to a mapped page that has no room on the disk would
    kill the process instead (SIGBUS). The rename hides the incomplete file from readers.
    """
    draft = path.with_suffix(".new")
    try:
        draft.write_bytes(bytes(FILE_BYTES))
        draft.rename(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _process_id(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _is_alive(process: int) -> bool:
    if process == DEAD_PROCESSES:
        return True
    try:
        os.kill(process, 0)
    # PermissionError: the id belongs to another user's process by now.
    except (ProcessLookupError, PermissionError):
        return False
    return True
