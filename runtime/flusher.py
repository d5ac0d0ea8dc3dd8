"""Write a process's buffered access records and metrics once per second."""

import contextlib
import logging
import os
import resource
import threading
import time
from pathlib import Path

from django.conf import settings

from runtime.logging import access_log
from runtime.logging.handler import stderr_writer
from runtime.metrics.process_files import MetricFiles
from runtime.metrics.registry import Counter, Gauge, MetricsSwitch

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0
# Before the metric files are opened again after a full disk.
RETRY_SECONDS = 30.0

processes = Gauge("processes", "Running processes, by role.", ("process",))
memory = Gauge("process_memory_bytes", "Resident memory of all processes of a role.", ("process",))
largest = Gauge(
    "process_memory_largest_bytes",
    "Resident memory of the largest process of a role.",
    ("process",),
    mode="livemax",
)
cpu = Counter("process_cpu_seconds", "CPU time used, by role.", ("process",))


class Flusher:
    def __init__(self, role: str) -> None:
        """`role`: the value of the `process` label, such as "web" or "background"."""
        self._role = role
        self._files: MetricFiles | None = None
        self._next_open_at = 0.0
        self._cpu_seconds = 0.0
        MetricsSwitch.is_on = settings.METRICS_ADDRESS is not None
        access_log.configure(writes_lines=logging.getLogger().isEnabledFor(logging.INFO))

    def start(self) -> None:
        """Flush in a background thread of a web worker."""
        threading.Thread(target=self._flush_forever, daemon=True).start()

    def flush(self) -> None:
        # An error must not end the thread: the next flush may succeed.
        try:
            access_log.flush(stderr_writer, as_json=settings.LOG_FORMAT == "json")
            stderr_writer.flush()
            if MetricsSwitch.is_on:
                self._measure_process()
                self._write_metrics()
        except Exception as error:
            logger.warning("Writing access records or metrics failed", exc_info=error)

    def stop(self) -> None:
        """Flush one last time before the process exits."""
        self.flush()
        stderr_writer.close()
        files, self._files = self._files, None
        if files is not None:
            files.close()

    def _flush_forever(self) -> None:
        while True:
            time.sleep(INTERVAL_SECONDS)
            self.flush()

    def _measure_process(self) -> None:
        memory_bytes = _resident_memory()
        processes.set(1, self._role)
        memory.set(memory_bytes, self._role)
        largest.set(memory_bytes, self._role)
        before, self._cpu_seconds = self._cpu_seconds, time.process_time()
        cpu.add(self._role, amount=self._cpu_seconds - before)

    def _write_metrics(self) -> None:
        """Write the metric files. While the disk has no room for them, counts stay in memory."""
        if self._files is None:
            if time.monotonic() < self._next_open_at:
                return
            self._next_open_at = time.monotonic() + RETRY_SECONDS
            settings.METRICS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._files = MetricFiles(settings.METRICS_DIR, os.getpid())
        self._files.write()


def _resident_memory() -> int:
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()
    # Without /proc only the peak is available.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
