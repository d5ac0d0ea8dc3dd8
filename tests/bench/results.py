"""Measure what storing results adds to a metered call on PostgreSQL.

Two products run on PostgreSQL servers of their own: one stores results, the other doesn't. They are
measured in turns, because the machine's other load changes from minute to minute.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.api import CALLERS, WORKERS, Contender, Measured, call, make_contender
from tests.bench.processes import workers
from tests.bench.quick_resolver import quick_resolver
from tests.bench.table import Metric
from tests.servers.postgres import postgres_server
from tests.servers.product import product
from tests.servers.redis import redis_server

ROUNDS = 21
KIND = "many accounts"
# By the retention in hours.
Contenders = dict[str, Contender]
# By retention and number of callers.
Round = dict[tuple[str, int], Measured]
STORING, NOT_STORING = "24", "0"


@contextmanager
def contenders() -> Iterator[Contenders]:
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        quick_resolver(0.0005) as resolver,
        ExitStack() as stack,
    ):
        environment = {"ANONYMOUS_REQUESTS_PER_MINUTE": "1000000", "WEB_WORKERS": WORKERS}
        environment["DNS_RESOLVERS"] = resolver.address
        running: Contenders = {}
        for hours in (STORING, NOT_STORING):
            postgres = stack.enter_context(postgres_server())
            redis = stack.enter_context(redis_server())
            stores = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
            site = stack.enter_context(
                product(Path(folder) / hours, RESULT_RETENTION_HOURS=hours, **environment, **stores)
            )
            contender = make_contender(site)
            # Without background processes, whose work doesn't depend on calls.
            web_workers = [worker.pid for worker in workers(site.process.pid)]
            contender.pids = [*web_workers, postgres.pid, redis.pid]
            contender.stores = {"PostgreSQL": postgres.pid}
            running[hours] = contender
        yield running


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    with contenders() as running:
        for contender in running.values():
            call(executor, contender, KIND)
        rounds: list[Round] = []
        for number in range(1, ROUNDS + 1):
            # In another order each time, because the first one may find a colder machine.
            order = list(running) if number % 2 else list(reversed(running))
            rounds.append(
                {
                    (hours, callers): call(executor, running[hours], KIND, callers=callers)
                    for callers in (CALLERS, 1)
                    for hours in order
                }
            )
            print_progress(f"Round {number} of {ROUNDS} is done.")
    return [metric for callers in (CALLERS, 1) for metric in _metrics(rounds, callers)]


def _metrics(rounds: list[Round], callers: int) -> list[Metric]:
    stored = [measured[STORING, callers] for measured in rounds]
    not_stored = [measured[NOT_STORING, callers] for measured in rounds]
    name = f"{callers} callers" if callers > 1 else "1 caller"
    return [
        *_microseconds(f"{name}, results stored", stored),
        *_microseconds(f"{name}, not stored", not_stored),
        Metric(
            f"{name}: CPU with results stored, relative to not stored",
            [
                one.cpu_per_request / other.cpu_per_request
                for one, other in zip(stored, not_stored, strict=True)
            ],
            at_most=1.05,
        ),
    ]


def _microseconds(label: str, measured: list[Measured]) -> list[Metric]:
    return [
        Metric(
            f"{label}: CPU of app, PostgreSQL and Redis per call, µs",
            [1e6 * each.cpu_per_request for each in measured],
        ),
        Metric(
            f"{label}: CPU of PostgreSQL per call, µs",
            [1e6 * each.store_cpu_per_request("PostgreSQL") for each in measured],
        ),
    ]
