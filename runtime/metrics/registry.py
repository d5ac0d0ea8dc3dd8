"""What is counted and measured, for whoever watches over the service.

Each part of the program counts its own things, in plain Python: to add costs a fraction of a
microsecond, and nothing where metrics are off. Once a second process_files.py hands on what was
added. No lock: in a web worker all threads are greenlets, which give way only when they wait.

No label may hold what a caller chooses or who they are: each set of labels is kept for ever.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal

PREFIX = "emailvalidation"
# 1 ms … 10 s
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

Labels = tuple[str, ...]


class MetricsSwitch:
    """Whether this process adds anything up."""

    is_on = False


class Metric:
    kind: Literal["counter", "histogram", "gauge"]

    def __init__(self, name: str, says: str, labels: Labels) -> None:
        self.name = f"{PREFIX}_{name}"
        self.says = says
        self.labels = labels
        all_metrics.append(self)


class Counter(Metric):
    """What only grows. It is shown as `<name>_total`."""

    kind = "counter"

    def __init__(self, name: str, says: str, labels: Labels = (), *, at_first: Iterable[str] = ()):
        """`at_first`: the values of the one label that are 0 from the beginning, and not absent."""
        super().__init__(name, says, labels)
        self.added: dict[Labels, float] = {}
        self.known: list[Labels] = [(value,) for value in at_first] if labels else [()]

    def add(self, *values: str, amount: float = 1) -> None:
        if MetricsSwitch.is_on:
            self.added[values] = self.added.get(values, 0) + amount

    def take(self) -> dict[Labels, float]:
        taken, self.added = self.added, {}
        return taken


class Buckets:
    """How often a value was below each bound, and the sum of all."""

    __slots__ = ("counts", "sum")

    def __init__(self, size: int) -> None:
        self.counts = [0] * (size + 1)
        self.sum = 0.0


class Histogram(Metric):
    """Seconds, or another measure that is named."""

    kind = "histogram"

    def __init__(
        self, name: str, says: str, labels: Labels = (), *, bounds: tuple[float, ...] = BOUNDS
    ) -> None:
        super().__init__(name, says, labels)
        self.bounds = bounds
        self.added: dict[Labels, Buckets] = {}

    def add(self, value: float, *values: str) -> None:
        self.add_all((value,), *values)

    def add_all(self, many: Collection[float], *values: str) -> None:
        if MetricsSwitch.is_on:
            spread = self.added.get(values)
            if spread is None:
                spread = self.added[values] = Buckets(len(self.bounds))
            spread.sum += sum(many)
            counts, bounds = spread.counts, self.bounds
            for value in many:
                counts[bisect_left(bounds, value)] += 1

    def take(self) -> dict[Labels, Buckets]:
        taken, self.added = self.added, {}
        return taken


class Gauge(Metric):
    """What is so at this moment.

    `mode` says how the processes' values become one. Those that begin with "live" end with their
    process: `livesum` is what all have together, `livemax` what one of them has at most;
    `mostrecent` is what was said last, by whichever process.
    """

    kind = "gauge"

    def __init__(
        self,
        name: str,
        says: str,
        labels: Labels = (),
        *,
        mode: Literal["livesum", "livemax", "mostrecent"] = "livesum",
        read: Callable[[], float] | None = None,
    ) -> None:
        """`read`: asked each second; else it is what was set."""
        super().__init__(name, says, labels)
        self.mode = mode
        self.read = read
        self.now: dict[Labels, float] = {}

    def set(self, value: float, *values: str) -> None:
        if MetricsSwitch.is_on:
            self.now[values] = value

    def take(self) -> Mapping[Labels, float]:
        if self.read is not None:
            return {(): float(self.read())}
        taken, self.now = self.now, {}
        return taken


# Of this process: all that the modules it loaded have.
all_metrics: list[Metric] = []
# Called before what was added is handed on: who counts by themselves add it now.
before_each_flush: list[Callable[[], None]] = []
