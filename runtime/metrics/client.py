"""prometheus_client, prepared for this process. Import the classes of metrics from here.

The settings of web workers and the background worker set PROMETHEUS_MULTIPROC_DIR if metrics are
on. prometheus_client then writes each update to files of this process that are mapped into memory,
and the exporter adds up the files of all processes. Without the variable, or if the disk has no
room for the files, it counts in memory, and nothing is exported.

Update metrics from greenlets and from threads that gevent knows, never from native threads. Label
values must not identify callers or be chosen by them: every combination of values is stored until
the service stops. A gunicorn master must not import this module: its workers would share its files.
"""

import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prometheus_client import Counter, Gauge, Histogram, values

from runtime.metrics.process_files import create_process_files

__all__ = ["Counter", "Gauge", "Histogram"]

logger = logging.getLogger(__name__)

# Seconds.
DURATION_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

# Called once per second if metrics are on, by runtime/flusher.py: a gauge that reads its value
# (set_function) isn't supported with several processes.
before_each_flush: list[Callable[[], None]] = []


def _share_with_exporter() -> bool:
    """Return whether this process's metrics are exported."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if folder is None:
        return False
    try:
        create_process_files(Path(folder), os.getpid())
    except OSError as error:
        # Count in memory.
        values.ValueClass = values.MutexValue
        logger.warning("This process exports no metrics until it restarts", exc_info=error)
        return False
    return True


def initialize(counter: Counter, label_values: Iterable[str]) -> None:
    """Export 0 for each value of the counter's label before the first update."""
    for value in label_values:
        counter.labels(value)


METRICS_ON = _share_with_exporter()
