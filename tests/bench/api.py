"""Measure what a metered call costs, compared with an empty view under the same web worker.

Contenders are the product on PostgreSQL and Redis, the product on SQLite ("embedded"), and an empty
view. They are measured alternately, because the machine's other load changes from minute to minute.
"""

import json
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle

import psycopg

from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, build_request, generate
from tests.bench.processes import cpu_seconds
from tests.bench.server import gunicorn
from tests.bench.servers import servers
from tests.servers.postgres import Postgres
from tests.servers.product import Product, product

ROUNDS = 7
WINDOW_SECONDS = 2.0
CALLERS = 16
WORKERS = "2"
SLOW_CALLS, DNS_SECONDS = 64, 0.5
EMPTY = build_request("POST", "/empty", b'{"email": "someone@example.com"}')
DOMAINS = 50
# Requests per second of a customer with little traffic, and of one who sends 6,000 per minute.
CALM_RATE, BURST_RATE = 50.0, 100.0
# The slow calls start this much earlier than the calls that are measured at the same time.
_LEAD_SECONDS = 2 * DNS_SECONDS
# Each refusal, with the statuses that its callers may get: those beyond a rate limit get 200 first.
REFUSALS = {"401": (401,), "402": (402,), "429": (429, 200)}
_WRONG_CHECKSUM = "svc_live_" + "x" * 38
_slow_domain_numbers = count()


@dataclass
class Contender:
    address: Address
    # Its processes: web workers, background worker, database, Redis.
    pids: list[int]
    requests: dict[str, tuple[bytes, ...]]
    secrets: tuple[str, ...] = ()
    postgres: Postgres | None = None
    # The process of each store, which is one of `pids`.
    stores: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    outcome: Outcome
    cpu_seconds: float
    # The part of each store in the CPU time.
    store_cpu_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return self.outcome.rate

    @property
    def cpu_per_request(self) -> float:
        return self.cpu_seconds / len(self.outcome.latencies)

    def store_cpu_per_request(self, store: str) -> float:
        return self.store_cpu_seconds[store] / len(self.outcome.latencies)

    @property
    def tail_ratio(self) -> float:
        return self.outcome.percentile(99) / self.outcome.percentile(50)


Round = dict[str, Measured]
Contenders = dict[str, Contender]


@contextmanager
def contenders() -> Iterator[Contenders]:
    # All measured requests come from one network address.
    environment = {"ANONYMOUS_REQUESTS_PER_MINUTE": "1000000", "WEB_WORKERS": WORKERS}
    with (
        servers(slow_delay=DNS_SECONDS) as shared,
        _empty() as empty,
        product(shared.folder / "shared", **environment, **shared.environment) as on_postgres,
        product(shared.folder / "embedded", **environment, **shared.dns) as on_sqlite,
    ):
        pids = {"PostgreSQL": shared.postgres.pid, "Redis": shared.redis.pid}
        ours = make_contender(on_postgres, *pids.values())
        ours.postgres, ours.stores = shared.postgres, pids
        yield {"empty": empty, "product": ours, "embedded": make_contender(on_sqlite)}


@contextmanager
def _empty() -> Iterator[Contender]:
    arguments = ["--config", "config/server/gunicorn_settings.py", "--workers", WORKERS]
    with gunicorn("tests.bench.application", arguments, {}, EMPTY) as server:
        yield Contender(server.address, [server.pid], {"empty": (EMPTY,)})


def make_contender(site: Product, *pids: int) -> Contender:
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


def warm_up(executor: Executor, contenders: Contenders) -> None:
    for contender in contenders.values():
        for kind in contender.requests:
            call(executor, contender, kind)


def measure_round(executor: Executor, contenders: Contenders) -> Round:
    empty, ours, embedded = (contenders[name] for name in ("empty", "product", "embedded"))
    measured = {
        "empty": call(executor, empty, "empty"),
        "many accounts": call(executor, ours, "many accounts"),
        "one account": call(executor, ours, "one account"),
        "embedded": call(executor, embedded, "many accounts"),
    }
    measured |= {kind: call(executor, ours, kind) for kind in REFUSALS}
    half = measured["many accounts"].rate / 2
    measured["half the rate"] = call(executor, ours, "many accounts", rate=half)
    measured |= _measure_during_bursts(executor, ours, half)
    return measured | _measure_during_slow_dns(executor, ours)


def call(
    executor: Executor,
    contender: Contender,
    kind: str,
    rate: float | None = None,
    callers: int = CALLERS,
) -> Measured:
    statuses, requests = REFUSALS.get(kind, (200,)), contender.requests[kind]
    load = Load(contender.address, requests, callers, WINDOW_SECONDS, 100, statuses, rate)
    before, stores_before = cpu_seconds(contender.pids), _store_cpu(contender)
    outcome = executor.submit(generate, load).result()
    stores = {name: used - stores_before[name] for name, used in _store_cpu(contender).items()}
    return Measured(outcome, cpu_seconds(contender.pids) - before, stores)


def _store_cpu(contender: Contender) -> dict[str, float]:
    return {name: cpu_seconds([pid]) for name, pid in contender.stores.items()}


def _measure_during_bursts(executor: Executor, contender: Contender, half: float) -> Round:
    """Measure a customer with little traffic while others exceed their rate limits.

    In the burst, one customer sends 6,000 requests per minute. In the flood, many customers send
    half of what the machine can answer.
    """
    refused = contender.requests["429"]
    return {
        "alone": call(executor, contender, "one account", rate=CALM_RATE),
        "during a burst": _measure_during(executor, contender, refused[:1], BURST_RATE),
        "during a flood": _measure_during(executor, contender, refused, half),
    }


def _measure_during(
    executor: Executor, contender: Contender, refused: tuple[bytes, ...], rate: float
) -> Measured:
    burst = Load(
        *(contender.address, refused, CALLERS, WINDOW_SECONDS + 1, 100, REFUSALS["429"]),
        rate=rate,
    )
    background = executor.submit(generate, burst)
    time.sleep(0.5)
    measured = call(executor, contender, "one account", rate=CALM_RATE)
    background.result()
    return measured


def _measure_during_slow_dns(executor: Executor, contender: Contender) -> Round:
    before = call(executor, contender, "many accounts")
    domains = (f"slow{next(_slow_domain_numbers)}.com" for _ in range(10 * SLOW_CALLS))
    requests = tuple(map(validate, count(), cycle(contender.secrets), domains))
    slow = Load(contender.address, requests, SLOW_CALLS, _LEAD_SECONDS + WINDOW_SECONDS + 0.2)
    background = executor.submit(generate, slow)
    time.sleep(_LEAD_SECONDS)
    during = call(executor, contender, "many accounts")
    background.result()
    return {"before DNS": before, "during DNS": during}


def statements_per_call(executor: Executor, contender: Contender) -> float:
    """Count the statements in PostgreSQL's own log, without BEGIN and COMMIT."""
    assert contender.postgres is not None
    with psycopg.connect(contender.postgres.url, autocommit=True) as database:
        database.execute("ALTER SYSTEM SET log_statement = 'all'")
        database.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)
        start = contender.postgres.log.stat().st_size
        calls = len(call(executor, contender, "many accounts").outcome.latencies)
        database.execute("ALTER SYSTEM RESET log_statement")
        database.execute("SELECT pg_reload_conf()")
    with contender.postgres.log.open() as log:
        log.seek(start)
        return sum(_is_statement(line) for line in log) / calls


def _is_statement(line: str) -> bool:
    _, separator, statement = line.partition("LOG:  ")
    if not separator or not statement.startswith(("statement: ", "execute ")):
        return False
    sql = statement.partition(": ")[2].strip().upper()
    return bool(sql) and not sql.startswith(("BEGIN", "COMMIT", "ALTER SYSTEM"))
