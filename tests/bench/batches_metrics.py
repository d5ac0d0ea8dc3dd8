"""The metrics of batches, with their targets."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from statistics import mean

from tests.bench.batches import FLOODS, ROUNDS, SIZE, Round, measure_round, sites
from tests.bench.load import Outcome
from tests.bench.pauses import pause_watch
from tests.bench.table import Metric

FLOOD_LABELS = {
    "warm, limited": "50 batches/s, 6,000 addresses per minute allowed",
    "cold, limited": "the same with cold domains",
    "warm": "as many batches as are answered",
    "cold": "as many batches of cold domains as are answered",
}


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    rounds: dict[str, list[Round]] = {}
    with sites() as running, pause_watch() as pauses:
        for number in range(ROUNDS + 1):
            for store, site in running.items():
                measured = measure_round(executor, site, pauses)
                # The first round warms up.
                if number:
                    rounds.setdefault(store, []).append(measured)
            print_progress(f"Round {number} of {ROUNDS} is done.")
    metrics = [metric for store in rounds for metric in _metrics(store, rounds[store])]
    repeated = "measurements of another customer repeated because the machine paused"
    return [*metrics, Metric(repeated, [float(pauses.repeated)])]


def _metrics(store: str, rounds: list[Round]) -> list[Metric]:
    metrics = [*_throughput(rounds), *_cold(rounds), *_isolation(rounds), *_memory(rounds)]
    return [replace(metric, label=f"{store}: {metric.label}") for metric in metrics]


def _throughput(rounds: list[Round]) -> list[Metric]:
    metric = partial(_metric, rounds)
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
    metric = partial(_metric, rounds)
    return [
        metric("a batch of cold domains, s", lambda measured: mean(measured.cold_seconds)),
        metric("cold domains, addresses/s", lambda measured: SIZE / mean(measured.cold_seconds)),
        metric(
            "cold domains: false unknowns",
            lambda measured: float(measured.false_unknowns),
            at_most=0,
        ),
    ]


def _isolation(rounds: list[Round]) -> list[Metric]:
    """Compare the calls during a round's flood with those of the same round without one.

    A moment of 50 ms in which no call is answered delays five of them, more than a hundredth of a
    round. In a percentile of all rounds, one or two such moments would hide the other rounds.
    """
    metric = partial(_metric, rounds)
    metrics = [metric("another customer alone: p99, ms", lambda each: 1000 * _p99(each.alone))]
    for kind in FLOODS:
        label = f"{FLOOD_LABELS[kind]}: another customer's p99, relative to alone"
        metrics += [
            metric(f"{FLOOD_LABELS[kind]}: completed per second", _completed(kind)),
            metric(label, _slowdown(kind), at_most=1.5),
        ]
    return metrics


def _p99(outcome: Outcome) -> float:
    return outcome.percentile(99)


def _slowdown(kind: str) -> Callable[[Round], float]:
    return lambda measured: _p99(measured.during[kind]) / _p99(measured.alone)


def _completed(kind: str) -> Callable[[Round], float]:
    return lambda measured: (
        len(measured.floods[kind].by_status.get(200, [])) / measured.floods[kind].seconds
    )


def _memory(rounds: list[Round]) -> list[Metric]:
    metric = partial(_metric, rounds)
    return [
        metric(
            "memory of the largest worker before the floods, MB",
            lambda measured: measured.megabytes_before,
        ),
        metric(
            "memory of the largest worker after the floods, MB",
            lambda measured: measured.megabytes_after,
            at_most=120,
        ),
    ]


def _metric(
    rounds: list[Round], label: str, value: Callable[[Round], float], **target: float
) -> Metric:
    return Metric(label, [value(measured) for measured in rounds], **target)
