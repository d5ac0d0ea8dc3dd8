"""Import prometheus_client's classes from here.

Don't update metrics from native threads, nor with labels that callers choose. A gunicorn master
must not import this: its workers would share its files.
"""

import os
import time
from collections.abc import Callable, Iterable
from functools import partial

from prometheus_client import Counter, Gauge, Histogram

__all__ = ["Counter", "Gauge", "Histogram"]

# What all running processes have together.
SumGauge = partial(Gauge, multiprocess_mode="livesum")
# What the process measured that did so last.
LatestGauge = partial(Gauge, multiprocess_mode="mostrecent")
METRICS_ON = "PROMETHEUS_MULTIPROC_DIR" in os.environ
INTERVAL_SECONDS = 15.0
DURATION_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

# runtime/flusher.py calls these each second: multiprocess gauges can't call functions.
before_each_flush: list[Callable[[], None]] = []


def initialize(counter: Counter, label_values: Iterable[str]) -> None:
    for value in label_values:
        counter.labels(value)


def at_intervals(
    measure: Callable[[], None], seconds: float = INTERVAL_SECONDS
) -> Callable[[], None]:
    """Return a function that measures, if metrics are on and the last time is long enough ago."""
    next_at = 0.0

    def measure_if_due() -> None:
        nonlocal next_at
        if METRICS_ON and time.monotonic() >= next_at:
            next_at = time.monotonic() + seconds
            measure()

    return measure_if_due
