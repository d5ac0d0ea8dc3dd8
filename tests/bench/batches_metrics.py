"""The metrics of batches, with their targets."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from statistics import mean

from tests.bench.batches import ROUNDS, SIZE, Round, measure_round, sites
from tests.bench.table import Metric, over_rounds


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    rounds: dict[str, list[Round]] = {}
    with sites() as running:
        for number in range(ROUNDS + 1):
            for store, site in running.items():
                measured = measure_round(executor, site)
                # The first round warms up.
                if number:
                    rounds.setdefault(store, []).append(measured)
            print_progress(f"Round {number} of {ROUNDS} is done.")
    return [metric for store in rounds for metric in _metrics(store, rounds[store])]


def _metrics(store: str, rounds: list[Round]) -> list[Metric]:
    metrics = [*_throughput(rounds), *_cold(rounds), _memory(rounds)]
    return [replace(metric, scenario=store) for metric in metrics]


def _throughput(rounds: list[Round]) -> list[Metric]:
    metric = partial(over_rounds, rounds)
    return [
        metric("single calls, addresses/s", lambda measured: measured.single.rate),
        metric("batches, addresses/s", lambda measured: measured.batches.rate * SIZE),
        metric(
            "batches: rate relative to single calls",
            lambda measured: measured.batches.rate * SIZE / measured.single.rate,
            at_least=10,
        ),
        *(
            metric(f"CPU of {name} per address, µs: {kind}", _microseconds(kind, name))
            for name in rounds[0].batch_cpu
            for kind in ("single calls", "batches")
        ),
    ]


def _microseconds(kind: str, process: str) -> Callable[[Round], float]:
    def value(measured: Round) -> float:
        cpu = measured.single_cpu if kind == "single calls" else measured.batch_cpu
        return 1e6 * cpu[process]

    return value


def _cold(rounds: list[Round]) -> list[Metric]:
    metric = partial(over_rounds, rounds)
    return [
        metric("a batch of cold domains, s", lambda measured: mean(measured.cold_seconds)),
        metric("cold domains, addresses/s", lambda measured: SIZE / mean(measured.cold_seconds)),
        metric(
            "cold domains: false unknowns",
            lambda measured: float(measured.false_unknowns),
            at_most=0,
        ),
    ]


def _memory(rounds: list[Round]) -> Metric:
    label = "memory of the largest worker, MB"
    return over_rounds(rounds, label, lambda measured: measured.megabytes, at_most=120)
