"""Overload the product with twice its top rate, then measure how fast it recovers.

The top rate is what a few callers reach when each sends its next request as soon as the last one is
answered. During the overload, a thousand callers send requests at a fixed rate.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count

from tests.bench.api import validate
from tests.bench.customers import ACCOUNTS, make_customers
from tests.bench.load import Address, Load, Outcome, generate
from tests.bench.processes import workers
from tests.bench.servers import servers
from tests.bench.table import Metric
from tests.servers.product import Product, product

OVERLOAD_FACTOR, SECONDS = 2, 60.0
CALLERS, TOP_RATE_CALLERS, LIGHT_LOAD_CALLERS = 1000, 16, 4
TOP_SECONDS = 5.0
# Between customers who keep their connections and customers who connect for each call.
REQUESTS_PER_CONNECTION = 10
# After the overload, a light load measures the recovery each second, for at most this long.
MAX_RECOVERY_SECONDS = 10
EXPECTED_STATUSES = {200, 429, 503}
# Recovered: the light load's median in a second is at most this multiple of the one before.
RECOVERED_FACTOR = 1.5
# One account in this many has exhausted its rate limit.
ACCOUNTS_PER_LIMITED = 10


@dataclass
class Overload:
    top: Outcome
    before: Outcome
    during: Outcome
    # The size of the largest worker in MB, for each second of the overload.
    megabytes: list[float]
    after: list[Outcome] = field(default_factory=list)

    @property
    def unexpected_statuses(self) -> set[int]:
        return set(self.during.by_status) - EXPECTED_STATUSES

    @property
    def memory_growth(self) -> float:
        """Return the growth since the first third of the overload, when all caches have filled."""
        return self.megabytes[-1] / self.megabytes[len(self.megabytes) // 3]

    @property
    def seconds_until_normal(self) -> float:
        normal = RECOVERED_FACTOR * self.before.percentile(50)
        for second, outcome in enumerate(self.after):
            if outcome.percentile(50) <= normal:
                return float(second)
        return float(len(self.after))


@contextmanager
def stores() -> Iterator[dict[str, Product]]:
    with (
        servers() as shared,
        product(shared.folder / "shared", WEB_WORKERS="2", **shared.environment) as on_postgres,
        product(shared.folder / "embedded", WEB_WORKERS="2", **shared.dns) as on_sqlite,
    ):
        yield {"PostgreSQL, Redis": on_postgres, "SQLite": on_sqlite}


def _requests_to(site: Product, accounts: int) -> tuple[bytes, ...]:
    secrets = make_customers(site, accounts)
    paid = map(validate, count(), secrets["paid"])
    limited = secrets["limited"][: accounts // ACCOUNTS_PER_LIMITED]
    return tuple(chain(paid, map(validate, count(), limited)))


def overload(
    executor: Executor,
    site: Product,
    seconds: float = SECONDS,
    top_seconds: float = TOP_SECONDS,
    accounts: int = ACCOUNTS,
) -> Overload:
    address, requests = Address("127.0.0.1", site.port), _requests_to(site, accounts)

    def start(callers: int, seconds: float, rate: float | None = None) -> "Future[Outcome]":
        per_connection = REQUESTS_PER_CONNECTION
        load = Load(address, requests, callers, seconds, per_connection, statuses=None, rate=rate)
        return executor.submit(generate, load)

    # Warm up.
    start(TOP_RATE_CALLERS, 1.0).result()
    top = start(TOP_RATE_CALLERS, top_seconds).result()
    before = start(LIGHT_LOAD_CALLERS, top_seconds, top.rate / 10).result()
    during = start(CALLERS, seconds, OVERLOAD_FACTOR * top.rate)
    megabytes = _watch_memory(site, during)
    result = Overload(top, before, during.result(), megabytes)
    for _ in range(MAX_RECOVERY_SECONDS):
        result.after.append(start(LIGHT_LOAD_CALLERS, 1.0, top.rate / 10).result())
        if result.seconds_until_normal < len(result.after):
            break
    return result


def _watch_memory(site: Product, load: "Future[Outcome]") -> list[float]:
    megabytes = [largest_worker_megabytes(site.process.pid)]
    while not load.done():
        time.sleep(1)
        megabytes.append(largest_worker_megabytes(site.process.pid))
    return megabytes


def largest_worker_megabytes(pid: int) -> float:
    """Return the size of the largest web worker of this process."""
    sizes = [float(worker.memory_full_info().pss) for worker in workers(pid)]
    return max(sizes) / 1e6


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    metrics: list[Metric] = []
    with stores() as sites:
        for name, site in sites.items():
            print_progress(f"{name}: {SECONDS:g} s at {OVERLOAD_FACTOR} times the top rate…")
            metrics += _metrics(name, overload(executor, site))
    return metrics


def _metrics(store: str, result: Overload) -> list[Metric]:
    during, top_rate = result.during, result.top.rate
    count = len(during.latencies)
    share = {status: len(times) / count for status, times in during.by_status.items()}
    latencies = sorted(during.by_status.get(200, [0.0]))
    metrics = [
        Metric("top rate, requests/s", [top_rate]),
        Metric("all responses, relative to the top rate", [during.rate / top_rate]),
        Metric(
            "200 responses, relative to the top rate", [share.get(200, 0) * during.rate / top_rate]
        ),
        Metric("503 responses, share of all", [share.get(503, 0)]),
        Metric(
            "statuses other than 200, 429 and 503",
            [float(len(result.unexpected_statuses))],
            at_most=0,
        ),
        Metric("200: p50, ms", [1000 * latencies[len(latencies) // 2]]),
        Metric("200: p99, ms", [1000 * latencies[len(latencies) * 99 // 100]]),
        Metric(
            "memory at the end, relative to the first third", [result.memory_growth], at_most=1.1
        ),
        Metric("seconds until recovered", [result.seconds_until_normal], at_most=5),
        Metric("light load before: p50, ms", [1000 * result.before.percentile(50)]),
        Metric("light load after: p50, ms", [1000 * result.after[-1].percentile(50)]),
    ]
    return [replace(metric, scenario=store) for metric in metrics]
