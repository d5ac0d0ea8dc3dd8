"""The metrics of a metered call, with their targets."""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial

from tests.bench.api import (
    REFUSALS,
    ROUNDS,
    Round,
    contenders,
    measure_round,
    statements_per_call,
    warm_up,
)
from tests.bench.load import percentile
from tests.bench.table import Metric, over_rounds


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    with contenders() as running:
        warm_up(executor, running)
        rounds: list[Round] = []
        for number in range(1, ROUNDS + 1):
            rounds.append(measure_round(executor, running))
            print_progress(f"Round {number} of {ROUNDS} is done.")
        metrics = _metrics(rounds)
        statements = statements_per_call(executor, running["product"])
        metrics.append(Metric("SQL statements per call", [statements], at_most=2))
    return metrics


def _metrics(rounds: list[Round]) -> list[Metric]:
    """Return the metrics of all rounds, in the order in which docs/performance.md lists them."""
    return [
        *_throughput(rounds),
        *_latency(rounds),
        *(
            over_rounds(
                rounds, f"{kind}: rate relative to the empty view", _rate(kind), at_least=0.5
            )
            for kind in REFUSALS
        ),
        *_isolation(rounds),
        over_rounds(
            rounds,
            "CPU of the load generator, cores",
            lambda measured: measured["many accounts"].outcome.generator_share,
        ),
    ]


def _throughput(rounds: list[Round]) -> list[Metric]:
    metric = partial(over_rounds, rounds)
    return [
        metric("an empty view: requests/s", lambda measured: measured["empty"].rate),
        metric(
            "validate, 200 accounts: rate relative to the empty view",
            _rate("many accounts"),
            at_least=0.45,
        ),
        metric(
            "validate, one account: rate relative to 200 accounts",
            _rate("one account", "many accounts"),
            at_least=0.9,
        ),
        metric(
            "CPU of app, PostgreSQL and Redis, relative to the empty view",
            _cpu("many accounts"),
            at_most=2.25,
        ),
        *(
            metric(f"{store}: CPU per call, µs", _store_microseconds(store))
            for store in ("PostgreSQL", "Redis")
        ),
        *(
            metric(f"{store}: CPU relative to the empty view", _store_cpu(store))
            for store in ("PostgreSQL", "Redis")
        ),
        metric(
            "embedded, 200 accounts: rate relative to the empty view",
            _rate("embedded"),
            at_least=0.2,
        ),
        metric("embedded: CPU relative to the empty view", _cpu("embedded")),
    ]


def _latency(rounds: list[Round]) -> list[Metric]:
    metric = partial(over_rounds, rounds)
    return [
        metric("validate: p50, ms", _milliseconds("many accounts", 50)),
        metric("validate: p99, ms", _milliseconds("many accounts", 99)),
        metric(
            "at half the rate: p99 / p50",
            lambda measured: measured["half the rate"].tail_ratio,
            at_most=5,
        ),
    ]


def _isolation(rounds: list[Round]) -> list[Metric]:
    """Return how much other customers and slow DNS servers slow down a call."""
    others = (
        ("another customer's 6,000 calls per minute", "during a burst"),
        ("other customers' refused calls at half the top rate", "during a flood"),
    )
    return [
        *(
            Metric(
                f"{label}: p99 of all rounds, relative to undisturbed",
                [_p99(rounds, kind) / _p99(rounds, "alone")],
                at_most=1.5,
            )
            for label, kind in others
        ),
        over_rounds(
            rounds,
            "64 calls waiting for DNS: rate relative to undisturbed",
            _rate("during DNS", "before DNS"),
            at_least=0.8,
        ),
    ]


def _rate(kind: str, baseline: str = "empty") -> Callable[[Round], float]:
    return lambda measured: measured[kind].rate / measured[baseline].rate


def _cpu(kind: str) -> Callable[[Round], float]:
    return lambda measured: measured[kind].cpu_per_request / measured["empty"].cpu_per_request


def _store_microseconds(store: str) -> Callable[[Round], float]:
    return lambda measured: measured["many accounts"].store_cpu_per_request(store) * 1e6


def _store_cpu(store: str) -> Callable[[Round], float]:
    def value(measured: Round) -> float:
        used = measured["many accounts"].store_cpu_per_request(store)
        return used / measured["empty"].cpu_per_request

    return value


def _milliseconds(kind: str, percent: int) -> Callable[[Round], float]:
    return lambda measured: measured[kind].outcome.percentile(percent) * 1000


def _p99(rounds: list[Round], kind: str) -> float:
    return percentile([measured[kind].outcome for measured in rounds], 99)
