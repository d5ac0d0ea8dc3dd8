"""What a metered call costs, against an empty one under the same web worker.

The product stands on PostgreSQL and Redis, and once more on SQLite alone; beside it an empty view.
All are measured in turns: whatever else the machine does changes from minute to minute.
"""

import json
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, build_request, generate
from tests.bench.processes import cpu_seconds, workers
from tests.bench.quick_resolver import quick_resolver
from tests.bench.server import gunicorn
from tests.bench.web_worker import DNS_SECONDS, EMPTY, SLOW_CALLS
from tests.servers.postgres import Postgres, postgres_server
from tests.servers.product import Product, product
from tests.servers.redis import redis_server

ROUNDS = 7
WINDOW_SECONDS = 2.0
CALLERS = 16
WORKERS = "2"
DOMAINS = 50
# A second: of who calls now and then, and of another who sends 6,000 requests in a minute.
CALM_RATE, BURST_RATE = 50.0, 100.0
# The slow calls start this much earlier than the calls that are counted beside them.
_LEAD_SECONDS = 2 * DNS_SECONDS
# What a call is refused with, and what a caller may be answered on the way there.
REFUSALS = {"401": (401,), "402": (402,), "429": (429, 200)}
_WRONG_CHECKSUM = "svc_live_" + "x" * 38
_fresh = count()


@dataclass
class Contender:
    address: Address
    # Of all that works for it: web workers, background worker, database, counters.
    pids: list[int]
    requests: dict[str, tuple[bytes, ...]]
    secrets: tuple[str, ...] = ()
    postgres: Postgres | None = None


@dataclass(frozen=True)
class Measured:
    outcome: Outcome
    cpu_seconds: float

    @property
    def rate(self) -> float:
        return self.outcome.rate

    @property
    def cpu_per_request(self) -> float:
        return self.cpu_seconds / len(self.outcome.answered)

    @property
    def tail(self) -> float:
        return self.outcome.percentile(99) / self.outcome.percentile(50)


Round = dict[str, Measured]
Contenders = dict[str, Contender]


@contextmanager
def contenders() -> Iterator[Contenders]:
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        quick_resolver(0.0005, slowly=DNS_SECONDS) as resolver,
        postgres_server() as postgres,
        redis_server() as redis,
    ):
        # All that is measured comes from one address.
        given = {"DNS_RESOLVERS": resolver.address, "ANONYMOUS_REQUESTS_PER_MINUTE": "1000000"}
        given["WEB_WORKERS"] = WORKERS
        shared = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        with (
            _empty() as empty,
            product(Path(folder) / "shared", **given, **shared) as on_postgres,
            product(Path(folder) / "embedded", **given) as on_sqlite,
        ):
            ours = _contender(on_postgres, postgres.pid, redis.pid)
            ours.postgres = postgres
            yield {"empty": empty, "product": ours, "embedded": _contender(on_sqlite)}


@contextmanager
def _empty() -> Iterator[Contender]:
    arguments = ["--config", "config/server/gunicorn_settings.py", "--workers", WORKERS]
    environment = {"SLOW_DNS_PORT": "9"}
    with gunicorn("tests.bench.application", arguments, environment, EMPTY) as server:
        yield Contender(server.address, [server.pid], {"empty": (EMPTY,)})


def _contender(site: Product, *pids: int) -> Contender:
    secrets = make_customers(site)
    paid, numbers = secrets["paid"], range(DOMAINS)
    requests = {
        "many accounts": tuple(map(validate, count(), paid)),
        "one account": tuple(validate(n, paid[0]) for n in numbers),
        "401": tuple(validate(n, _WRONG_CHECKSUM) for n in numbers),
        "402": tuple(map(validate, count(), secrets["unpaid"])),
        "429": tuple(map(validate, count(), secrets["limited"])),
    }
    address = Address("127.0.0.1", site.port)
    return Contender(address, [site.process.pid, *pids], requests, tuple(paid))


def validate(number: int, key: str, domain: str = "", host: str = "127.0.0.1") -> bytes:
    domain = domain or f"shop{number % DOMAINS}.com"
    body = json.dumps({"email": f"someone.{number}@{domain}"}).encode()
    return build_request("POST", "/v1/validate", body, key, host)


def warm_up(executor: Executor, all_of_them: Contenders) -> None:
    for contender in all_of_them.values():
        for kind in contender.requests:
            call(executor, contender, kind)


def measure_round(executor: Executor, all_of_them: Contenders) -> Round:
    empty, ours, embedded = (all_of_them[name] for name in ("empty", "product", "embedded"))
    measured = {
        "empty": call(executor, empty, "empty"),
        "many accounts": call(executor, ours, "many accounts"),
        "one account": call(executor, ours, "one account"),
        "embedded": call(executor, embedded, "many accounts"),
    }
    measured |= {kind: call(executor, ours, kind) for kind in REFUSALS}
    half = measured["many accounts"].rate / 2
    measured["half the rate"] = call(executor, ours, "many accounts", rate=half)
    measured |= _beside_a_burst(executor, ours, half)
    return measured | _beside_slow_dns(executor, ours)


def call(
    executor: Executor, contender: Contender, kind: str, rate: float | None = None
) -> Measured:
    statuses, requests = REFUSALS.get(kind, (200,)), contender.requests[kind]
    load = Load(contender.address, requests, CALLERS, WINDOW_SECONDS, 100, statuses, rate)
    before = cpu_seconds(contender.pids)
    outcome = executor.submit(generate, load).result()
    return Measured(outcome, cpu_seconds(contender.pids) - before)


def _beside_a_burst(executor: Executor, contender: Contender, half: float) -> Round:
    """A customer with a call now and then, while others send far more than their limit: one of them
    6,000 requests a minute, or many half of what the machine can answer."""
    refused = contender.requests["429"]
    return {
        "alone": call(executor, contender, "one account", rate=CALM_RATE),
        "beside a burst": _beside(executor, contender, refused[:1], BURST_RATE),
        "beside a flood": _beside(executor, contender, refused, half),
    }


def _beside(
    executor: Executor, contender: Contender, refused: tuple[bytes, ...], rate: float
) -> Measured:
    burst = Load(
        *(contender.address, refused, CALLERS, WINDOW_SECONDS + 1, 100, REFUSALS["429"]),
        rate=rate,
    )
    beside_it = executor.submit(generate, burst)
    time.sleep(0.5)
    measured = call(executor, contender, "one account", rate=CALM_RATE)
    beside_it.result()
    return measured


def _beside_slow_dns(executor: Executor, contender: Contender) -> Round:
    before = call(executor, contender, "many accounts")
    domains = (f"slow{next(_fresh)}.com" for _ in range(10 * SLOW_CALLS))
    requests = tuple(map(validate, count(), cycle(contender.secrets), domains))
    slow = Load(contender.address, requests, SLOW_CALLS, _LEAD_SECONDS + WINDOW_SECONDS + 0.2)
    beside_it = executor.submit(generate, slow)
    time.sleep(_LEAD_SECONDS)
    beside = call(executor, contender, "many accounts")
    beside_it.result()
    return {"before DNS": before, "beside DNS": beside}


def statements_per_call(executor: Executor, contender: Contender) -> float:
    """As PostgreSQL's own log has them. Transactions begun and ended are not counted."""
    assert contender.postgres is not None
    with psycopg.connect(contender.postgres.url, autocommit=True) as database:
        database.execute("ALTER SYSTEM SET log_statement = 'all'")
        database.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)
        start = contender.postgres.log.stat().st_size
        answered = len(call(executor, contender, "many accounts").outcome.answered)
        database.execute("ALTER SYSTEM RESET log_statement")
        database.execute("SELECT pg_reload_conf()")
    with contender.postgres.log.open() as log:
        log.seek(start)
        return sum(_is_statement(line) for line in log) / answered


def _is_statement(line: str) -> bool:
    _, said, statement = line.partition("LOG:  ")
    if not said or not statement.startswith(("statement: ", "execute ")):
        return False
    words = statement.partition(": ")[2].strip().upper()
    return bool(words) and not words.startswith(("BEGIN", "COMMIT", "ALTER SYSTEM"))


def megabytes_of_workers(contender: Contender) -> list[float]:
    return [worker.memory_full_info().pss / 1e6 for worker in workers(contender.pids[0])]
