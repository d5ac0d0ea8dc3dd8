"""Twice as much is asked as the product can answer, and then little again.

The top rate is what a few callers get who ask as fast as they are answered. Then a thousand ask, by
the clock: whether they are answered or not.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.api import validate
from tests.bench.customers import ACCOUNTS, make_customers
from tests.bench.load import Address, Load, Outcome, generate
from tests.bench.processes import workers
from tests.bench.quick_resolver import quick_resolver
from tests.bench.table import Line
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product
from tests.servers.redis import redis_server

TIMES, SECONDS = 2, 60.0
CALLERS, FEW, LIGHT = 1000, 16, 4
TOP_SECONDS = 5.0
# Some customers keep their connections, others connect for each call.
REQUESTS_PER_CONNECTION = 10
# After it: one look a second, for so long at most.
LOOKS = 10
MAY_SAY = {200, 429, 503}
# What counts as being back: the median of a second's light load, against the one before.
BACK = 1.5
# For so many accounts there is one that has used up its limit.
LIMITED = 10


@dataclass
class Overload:
    top: Outcome
    before: Outcome
    over: Outcome
    # The largest worker, in MB, every second of it.
    megabytes: list[float]
    after: list[Outcome] = field(default_factory=list)

    @property
    def odd_statuses(self) -> set[int]:
        return set(self.over.by_status) - MAY_SAY

    @property
    def growth(self) -> float:
        """From the end of its first third to its end: by then all there is to fill is full."""
        return self.megabytes[-1] / self.megabytes[len(self.megabytes) // 3]

    @property
    def seconds_until_normal(self) -> float:
        normal = BACK * self.before.percentile(50)
        for second, outcome in enumerate(self.after):
            if outcome.percentile(50) <= normal:
                return float(second)
        return float(len(self.after))


@contextmanager
def stores(
    names: tuple[str, ...] = ("PostgreSQL, Redis", "SQLite"),
) -> Iterator[dict[str, Product]]:
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        quick_resolver(0.0005) as resolver,
        postgres_server() as postgres,
        redis_server() as redis,
    ):
        given = {"DNS_RESOLVERS": resolver.address, "WEB_WORKERS": "2"}
        shared = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        with (
            product(Path(folder) / "shared", **given, **shared) as on_postgres,
            product(Path(folder) / "embedded", **given) as on_sqlite,
        ):
            yield {"PostgreSQL, Redis": on_postgres, "SQLite": on_sqlite}


def _requests_to(site: Product, accounts: int) -> tuple[bytes, ...]:
    secrets = make_customers(site, accounts)
    paid = map(validate, count(), secrets["paid"])
    return tuple(chain(paid, map(validate, count(), secrets["limited"][: accounts // LIMITED])))


def overload(
    executor: Executor,
    site: Product,
    seconds: float = SECONDS,
    top_seconds: float = TOP_SECONDS,
    accounts: int = ACCOUNTS,
) -> Overload:
    address, requests = Address("127.0.0.1", site.port), _requests_to(site, accounts)

    def ask(callers: int, seconds: float, rate: float | None = None) -> "Future[Outcome]":
        often = REQUESTS_PER_CONNECTION
        load = Load(address, requests, callers, seconds, often, statuses=None, rate=rate)
        return executor.submit(generate, load)

    ask(FEW, 1.0).result()
    top = ask(FEW, top_seconds).result()
    before = ask(LIGHT, top_seconds, top.rate / 10).result()
    over = ask(CALLERS, seconds, TIMES * top.rate)
    megabytes = _watch(site, over)
    result = Overload(top, before, over.result(), megabytes)
    for _ in range(LOOKS):
        result.after.append(ask(LIGHT, 1.0, top.rate / 10).result())
        if result.seconds_until_normal < len(result.after):
            break
    return result


def _watch(site: Product, load: "Future[Outcome]") -> list[float]:
    megabytes = [largest_worker_megabytes(site)]
    while not load.done():
        time.sleep(1)
        megabytes.append(largest_worker_megabytes(site))
    return megabytes


def largest_worker_megabytes(site: Product) -> float:
    sizes = [float(worker.memory_full_info().pss) for worker in workers(site.process.pid)]
    return max(sizes) / 1e6


def measure(executor: Executor, tell: Callable[[str], None]) -> list[Line]:
    lines: list[Line] = []
    with stores() as sites:
        for name, site in sites.items():
            tell(f"{name}: {SECONDS:g} s at {TIMES} times the top rate…")
            lines += _lines(name, overload(executor, site))
    return lines


def _lines(store: str, seen: Overload) -> list[Line]:
    over = seen.over
    share = {status: len(times) / len(over.answered) for status, times in over.by_status.items()}
    answered = sorted(over.by_status.get(200, [0.0]))
    return [
        Line(f"{store}: top rate, requests/s", [seen.top.rate]),
        Line("asked, times the top rate", [(len(over.answered) / over.seconds) / seen.top.rate]),
        Line("answered 200, against the top rate", [share.get(200, 0) * over.rate / seen.top.rate]),
        Line("answered 503, of all", [share.get(503, 0)]),
        Line("answered neither 200, 429 nor 503", [float(len(seen.odd_statuses))], at_most=0),
        Line("200: p50, ms", [1000 * answered[len(answered) // 2]]),
        Line("200: p99, ms", [1000 * answered[len(answered) * 99 // 100]]),
        Line("memory at the end, times after a third", [seen.growth], at_most=1.1),
        Line("seconds until it is as before", [seen.seconds_until_normal], at_most=5),
        Line("light load before: p50, ms", [1000 * seen.before.percentile(50)]),
        Line("light load after: p50, ms", [1000 * seen.after[-1].percentile(50)]),
    ]
