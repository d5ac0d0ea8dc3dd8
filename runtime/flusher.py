import contextlib
import logging
import resource
import threading
import time
from pathlib import Path

from django.conf import settings

from runtime.logging import access_log
from runtime.logging.handler import stderr_writer
from runtime.metrics.client import METRICS_ON, Counter, Gauge, SumGauge, before_each_flush

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0

processes = SumGauge("emailvalidation_processes", "Running processes, by role.", ("process",))
starts = Counter("emailvalidation_process_starts", "Processes started, by role.", ("process",))
memory = SumGauge(
    "emailvalidation_process_memory_bytes",
    "Resident memory of all processes of a role.",
    ("process",),
)
largest = Gauge(
    "emailvalidation_process_memory_largest_bytes",
    "Resident memory of the largest process of a role.",
    ("process",),
    multiprocess_mode="livemax",
)
cpu = Counter("emailvalidation_process_cpu_seconds", "CPU time used, by role.", ("process",))
dropped_records = Counter(
    "emailvalidation_log_records_dropped",
    "Log records dropped because standard error was not read.",
)


class Flusher:
    def __init__(self, role: str) -> None:
        self._role = role
        starts.labels(role).inc()
        self._cpu_seconds = 0.0
        self._counted = self._reported = 0
        access_log.configure(writes_lines=logging.getLogger().isEnabledFor(logging.INFO))

    def start(self) -> None:
        threading.Thread(target=self._flush_forever, daemon=True).start()

    def flush(self) -> None:
        # An error must not end the thread.
        try:
            access_log.flush(stderr_writer, as_json=settings.LOG_FORMAT == "json")
            self._report_dropped_records()
            if METRICS_ON:
                self._measure_process()
                for collect in before_each_flush:
                    collect()
        except Exception as error:
            logger.warning("Writing access records or metrics failed", exc_info=error)

    def _flush_forever(self) -> None:
        while True:
            time.sleep(INTERVAL_SECONDS)
            self.flush()

    def _report_dropped_records(self) -> None:
        dropped = stderr_writer.dropped_lines
        dropped_records.inc(dropped - self._counted)
        self._counted = dropped
        if dropped > self._reported and not stderr_writer.is_blocked:
            logger.warning(
                "Dropped %s log records: standard error was not read", dropped - self._reported
            )
            self._reported = dropped

    def _measure_process(self) -> None:
        # Without /proc, only the peak is known.
        memory_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        with contextlib.suppress(OSError):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            memory_bytes = pages * resource.getpagesize()
        processes.labels(self._role).set(1)
        memory.labels(self._role).set(memory_bytes)
        largest.labels(self._role).set(memory_bytes)
        before, self._cpu_seconds = self._cpu_seconds, time.process_time()
        cpu.labels(self._role).inc(self._cpu_seconds - before)
