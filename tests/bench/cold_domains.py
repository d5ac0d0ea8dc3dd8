"""Measure single calls for addresses whose domains the web workers don't know yet."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from tests.bench.api import CALLERS, WORKERS, validate
from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, generate
from tests.bench.processes import cpu_seconds
from tests.bench.servers import servers
from tests.bench.table import Metric
from tests.servers.product import product

ADDRESSES, DOMAINS = 10_000, 2_000
DELAYS = (0.0, 0.02)


@dataclass(frozen=True)
class Pass:
    """All addresses once."""

    outcome: Outcome
    cpu_seconds: float
    dns_queries: int


def measure(
    executor: Executor,
    print_progress: Callable[[str], None],
    *,
    addresses: int = ADDRESSES,
) -> list[Metric]:
    metrics: list[Metric] = []
    for delay in DELAYS:
        cold, known = _measure_passes(executor, delay, addresses)
        metrics += _metrics(f"resolver replies after {1000 * delay:g} ms", cold, known, addresses)
        print_progress(f"The resolver that replies after {1000 * delay:g} ms is done.")
    return metrics


def _metrics(scenario: str, cold: Pass, known: Pass, addresses: int) -> list[Metric]:
    domains = min(DOMAINS, addresses)
    metrics = [
        Metric("calls/s", [cold.outcome.rate]),
        Metric("rate relative to known domains", [cold.outcome.rate / known.outcome.rate]),
        Metric("app's CPU relative to known", [cold.cpu_seconds / known.cpu_seconds]),
        Metric(
            "p50 relative to known domains",
            [cold.outcome.percentile(50) / known.outcome.percentile(50)],
        ),
        Metric("DNS questions per domain", [cold.dns_queries / domains]),
        Metric("DNS questions for known domains", [float(known.dns_queries)]),
    ]
    return [replace(metric, scenario=scenario) for metric in metrics]


def _measure_passes(executor: Executor, delay: float, addresses: int) -> tuple[Pass, Pass]:
    """Return a pass over domains that no web worker knows, and the same pass again."""
    settings = {"WEB_WORKERS": WORKERS, "ANONYMOUS_REQUESTS_PER_MINUTE": "1000000"}
    with (
        servers(delay) as shared,
        product(shared.folder / "product", **settings, **shared.environment) as site,
    ):
        secrets = make_customers(site, 20)["paid"]
        requests = tuple(
            validate(number, secrets[number % len(secrets)], f"cold{number % DOMAINS}.com")
            for number in range(addresses)
        )
        address = Address("127.0.0.1", site.port)
        load = Load(address, requests, CALLERS, seconds=600, max_requests=addresses)

        def run() -> Pass:
            shared.resolver.take_queries()
            before = cpu_seconds([site.process.pid])
            outcome = executor.submit(generate, load).result()
            used = cpu_seconds([site.process.pid]) - before
            return Pass(outcome, used, len(shared.resolver.take_queries()))

        return run(), run()
