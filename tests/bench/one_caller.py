"""Measure how long a single caller waits, who sends a call when the last one is answered."""

import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile, gettempdir
from typing import NamedTuple

from tests.bench.api import Contenders, call, contenders, warm_up
from tests.bench.table import Metric

ROUNDS = 7
FLUSHES = 100
# What PostgreSQL and SQLite write at least for a commit.
PAGE = bytes(4096)
STORES = {"PostgreSQL and Redis": "product", "SQLite": "embedded"}


class Round(NamedTuple):
    """Medians in ms."""

    empty: float
    flush: float
    # By the names of STORES.
    validate: dict[str, float]

    def excess(self, stores: str) -> float:
        return self.validate[stores] - self.empty - self.flush


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    with contenders() as running:
        warm_up(executor, running)
        rounds: list[Round] = []
        for number in range(1, ROUNDS + 1):
            rounds.append(_measure_round(executor, running))
            print_progress(f"Round {number} of {ROUNDS} is done.")
    return _metrics(rounds)


def _measure_round(executor: Executor, running: Contenders) -> Round:
    def p50(contender: str, kind: str) -> float:
        outcome = call(executor, running[contender], kind, callers=1).outcome
        return 1000 * outcome.percentile(50)

    return Round(
        p50("empty", "empty"),
        1000 * flush_seconds(Path(gettempdir())),
        {stores: p50(name, "many accounts") for stores, name in STORES.items()},
    )


def flush_seconds(folder: Path) -> float:
    """Return how long the disk takes to store a page durably."""
    seconds = []
    with NamedTemporaryFile(dir=folder) as file:
        for _ in range(FLUSHES):
            started_at = time.perf_counter()
            os.write(file.fileno(), PAGE)
            os.fdatasync(file.fileno())
            seconds.append(time.perf_counter() - started_at)
    return median(seconds)


def _metrics(rounds: list[Round]) -> list[Metric]:
    metrics = [
        Metric("an empty view: p50, ms", [each.empty for each in rounds]),
        Metric("the disk's flush of a page: p50, ms", [each.flush for each in rounds]),
    ]
    for stores in STORES:
        metrics += [
            Metric(f"validate, {stores}: p50, ms", [each.validate[stores] for each in rounds]),
            Metric(
                f"validate, {stores}: p50 relative to the empty view",
                [each.validate[stores] / each.empty for each in rounds],
            ),
            Metric(
                f"validate, {stores}: p50 without the empty view's and a flush, ms",
                [each.excess(stores) for each in rounds],
                at_most=1.5,
            ),
        ]
    return metrics
