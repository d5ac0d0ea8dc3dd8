"""Once a second a process tells what it collected: the answered requests, and its metrics."""

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

SECONDS = 1.0
# After a disk was full.
RETRY_SECONDS = 30.0

processes = Gauge("processes", "Processes that run, by what they do.", ("process",))
memory = Gauge("process_memory_bytes", "Memory that processes hold together.", ("process",))
largest = Gauge(
    "process_memory_largest_bytes", "Memory that one process holds.", ("process",), mode="livemax"
)
cpu = Counter("process_cpu_seconds", "Time that processors spent.", ("process",))


class Flusher:
    def __init__(self, process: str) -> None:
        """`process`: what this one does, in a word."""
        self._process = process
        self._files: MetricFiles | None = None
        self._open_at = 0.0
        self._cpu_seconds = 0.0
        MetricsSwitch.is_on = settings.METRICS_ADDRESS is not None
        access_log.configure(is_logged=logging.getLogger().isEnabledFor(logging.INFO))

    def start(self) -> None:
        """Beside the requests of a web worker."""
        threading.Thread(target=self._beat_for_ever, daemon=True).start()

    def flush(self) -> None:
        # Whatever it is, the next beat may be better, and no request is to blame.
        try:
            access_log.flush(stderr_writer, as_json=settings.LOG_FORMAT == "json")
            stderr_writer.flush()
            if MetricsSwitch.is_on:
                self._measure_process()
                self._write_metrics()
        except Exception as error:
            logger.warning("Records or metrics could not be written", exc_info=error)

    def end(self) -> None:
        self.flush()
        stderr_writer.close()
        files, self._files = self._files, None
        if files is not None:
            files.close()

    def _beat_for_ever(self) -> None:
        while True:
            time.sleep(SECONDS)
            self.flush()

    def _measure_process(self) -> None:
        held = _memory()
        processes.set(1, self._process)
        memory.set(held, self._process)
        largest.set(held, self._process)
        before, self._cpu_seconds = self._cpu_seconds, time.process_time()
        cpu.add(self._process, amount=self._cpu_seconds - before)

    def _write_metrics(self) -> None:
        """While there is no room for the files, what is counted waits."""
        if self._files is None:
            if time.monotonic() < self._open_at:
                return
            self._open_at = time.monotonic() + RETRY_SECONDS
            settings.METRICS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._files = MetricFiles(settings.METRICS_DIR, os.getpid())
        self._files.write()


def _memory() -> int:
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()
    # The most it ever was, where the system does not tell what it is now.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
