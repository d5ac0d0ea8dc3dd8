"""Define and update metrics.

Each module defines its own metrics. An update is plain Python and takes a fraction of a
microsecond, or nothing if metrics are off. process_files.py writes the updates once per second. No
locks are needed: all threads of a web worker are greenlets, which only switch when they wait.

Label values must not identify callers or be chosen by them: every combination of values is stored
until the service stops.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal

PREFIX = "emailvalidation"
# From 1 ms to 10 s.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

Labels = tuple[str, ...]


class MetricsSwitch:
    """Whether this process records metrics."""

    is_on = False


class Metric:
    kind: Literal["counter", "histogram", "gauge"]

    def __init__(self, name: str, help_text: str, labels: Labels) -> None:
        self.name = f"{PREFIX}_{name}"
        self.help_text = help_text
        self.labels = labels
        all_metrics.append(self)


class Counter(Metric):
    """A value that only increases. It is exported as `<name>_total`."""

    kind = "counter"

    def __init__(
        self,
        name: str,
        help_text: str,
        labels: Labels = (),
        *,
        initial_labels: Iterable[str] = (),
    ) -> None:
        """`initial_labels`: values of a single label, exported as 0 before the first update."""
        super().__init__(name, help_text, labels)
        self.added: dict[Labels, float] = {}
        self.initial: list[Labels] = [(value,) for value in initial_labels] if labels else [()]

    def add(self, *values: str, amount: float = 1) -> None:
        if MetricsSwitch.is_on:
            self.added[values] = self.added.get(values, 0) + amount

    def take(self) -> dict[Labels, float]:
        """Return what was added since the last call."""
        taken, self.added = self.added, {}
        return taken


class Buckets:
    """The number of values up to each bound, and the sum of all values."""

    __slots__ = ("counts", "sum")

    def __init__(self, size: int) -> None:
        self.counts = [0] * (size + 1)
        self.sum = 0.0


class Histogram(Metric):
    """A distribution of values: seconds, unless the name says otherwise."""

    kind = "histogram"

    def __init__(
        self, name: str, help_text: str, labels: Labels = (), *, bounds: tuple[float, ...] = BOUNDS
    ) -> None:
        super().__init__(name, help_text, labels)
        self.bounds = bounds
        self.added: dict[Labels, Buckets] = {}

    def add(self, value: float, *values: str) -> None:
        self.add_all((value,), *values)

    def add_all(self, measurements: Collection[float], *values: str) -> None:
        if MetricsSwitch.is_on:
            buckets = self.added.get(values)
            if buckets is None:
                buckets = self.added[values] = Buckets(len(self.bounds))
            buckets.sum += sum(measurements)
            counts, bounds = buckets.counts, self.bounds
            for measurement in measurements:
                counts[bisect_left(bounds, measurement)] += 1

    def take(self) -> dict[Labels, Buckets]:
        """Return what was added since the last call."""
        taken, self.added = self.added, {}
        return taken


class Gauge(Metric):
    """A current value.

    `mode` combines the values of several processes. `livesum` and `livemax` are the sum and the
    maximum over the running processes; `mostrecent` is the value that any process set last.
    """

    kind = "gauge"

    def __init__(
        self,
        name: str,
        help_text: str,
        labels: Labels = (),
        *,
        mode: Literal["livesum", "livemax", "mostrecent"] = "livesum",
        read: Callable[[], float] | None = None,
    ) -> None:
        """`read`: called once per second to get the value. Without it, call `set`."""
        super().__init__(name, help_text, labels)
        self.mode = mode
        self.read = read
        self.values: dict[Labels, float] = {}

    def set(self, value: float, *values: str) -> None:
        if MetricsSwitch.is_on:
            self.values[values] = value

    def take(self) -> Mapping[Labels, float]:
        """Return what was set since the last call, or the value that `read` returns."""
        if self.read is not None:
            return {(): float(self.read())}
        taken, self.values = self.values, {}
        return taken


# The metrics of all modules that this process has loaded.
all_metrics: list[Metric] = []
# Called before metrics are written, so that modules that count by other means can update theirs.
before_each_flush: list[Callable[[], None]] = []
