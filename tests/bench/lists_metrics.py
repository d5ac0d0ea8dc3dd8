"""The metrics of lists, with their targets."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from statistics import median

from tests.bench.lists import DOMAIN_SHARES, PROCESSES, STAGES, Run, bare_mx_rate, measure_run, site
from tests.bench.lists_calm import measure_calm
from tests.bench.load import Outcome
from tests.bench.table import Metric, Target

# For a million addresses at 100,000 domains, on two cores.
REQUIRED_SECONDS = 150
_MILLION = 1_000_000


def measure(
    executor: Executor, print_progress: Callable[[str], None], addresses: int
) -> list[Metric]:
    metrics: list[Metric] = []
    domains = addresses // 10
    mx_rate = executor.submit(bare_mx_rate, domains).result()
    metrics.append(Metric("bare MX queries: domains/s", [mx_rate]))
    for processes in PROCESSES:
        with site(processes) as running:
            for share in DOMAIN_SHARES:
                run = measure_run(running, processes, addresses, int(addresses * share))
                metrics += _speed(run, share, mx_rate)
                print_progress(f"{_name(processes)}, {share:.0%} domains: done.")
    with site(1) as running:
        calm = measure_calm(executor, running)
    return [*metrics, *_calm(*calm)]


def _calm(*outcomes: list[Outcome]) -> list[Metric]:
    alone, during = ([1000 * each.percentile(99) for each in rounds] for rounds in outcomes)
    ratio = median(during) / median(alone)
    label = "single calls while one process checks a list: p99"
    return [
        Metric("single calls while the list is paused: p99, ms", alone),
        Metric(f"{label}, ms", during),
        Metric(f"{label}, relative to paused", [ratio], at_most=1.5),
    ]


def _speed(run: Run, share: float, mx_rate: float) -> list[Metric]:
    scenario = f"{_name(run.processes)}, {share:.0%} distinct domains"
    # The target is for two cores, a tenth of distinct domains, and any number of addresses.
    is_goal = run.processes == max(PROCESSES) and share == DOMAIN_SHARES[1]
    seconds = run.total_seconds * _MILLION / run.addresses
    target: Target = {"at_most": REQUIRED_SECONDS} if is_goal else {}
    metrics = [
        Metric("seconds per million addresses", [seconds], **target),
        Metric("addresses/s", [run.addresses / run.total_seconds]),
        Metric(
            "domains/s, relative to bare MX queries",
            [run.domains / run.seconds["domains"] / mx_rate],
        ),
        Metric("wrong verdicts", [float(run.wrong)], at_most=0),
        Metric("false unknowns", [float(run.unknown)], at_most=run.addresses / 10_000),
        Metric("database, bytes per address", [run.database_bytes / run.addresses]),
        Metric("memory of the largest list process, MB", [run.megabytes]),
    ]
    if share == DOMAIN_SHARES[1]:
        metrics += [
            Metric(f"CPU of {name} per address, µs: {stage}", [_micros(run, stage, name)])
            for stage in STAGES
            for name in run.cpu[stage]
        ]
    return [replace(metric, scenario=scenario) for metric in metrics]


def _micros(run: Run, stage: str, name: str) -> float:
    return 1e6 * run.cpu[stage][name] / run.addresses


def _name(processes: int) -> str:
    return "one process" if processes == 1 else f"{processes} processes"
