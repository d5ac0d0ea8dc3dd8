"""Measure batches: compared with single calls, and with cold domains.

A batch has as many addresses as are allowed. Every measurement is relative to single calls that
the same web workers answer in the same round, because the machine's other load changes.
"""

import http.client
import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from statistics import mean

from tests.bench.api import DOMAINS, WORKERS, validate
from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, build_request, generate
from tests.bench.processes import cpu_seconds, largest_worker_megabytes
from tests.bench.servers import servers
from tests.bench.table import Metric, over_rounds
from tests.servers.product import Product, product

ROUNDS, SECONDS = 7, 2.0
SIZE, PATH = 100, "/v1/validate/batch"
SINGLE_CALLERS, BATCH_CALLERS = 16, 4
DNS_SECONDS = 0.02
COLD_BATCHES = 5
# Single calls per second of a customer whose latency is measured during other work.
CALM_RATE = 100.0
_cold_domain_numbers = count()


@dataclass
class Site:
    running: Product
    # The CPU of these processes is measured: the product's, and the stores'.
    pids: dict[str, list[int]]
    secrets: dict[str, list[str]]

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.running.port)


@dataclass
class Round:
    single: Outcome
    batches: Outcome
    # CPU seconds per address, by process.
    single_cpu: dict[str, float]
    batch_cpu: dict[str, float]
    cold_seconds: list[float]
    false_unknowns: int
    # Of the largest web worker.
    megabytes: float


@contextmanager
def open_site() -> Iterator[Site]:
    with (
        servers(slow_delay=DNS_SECONDS) as shared,
        product(shared.folder / "shared", WEB_WORKERS=WORKERS, **shared.environment) as running,
    ):
        pids = {"app": [running.process.pid], "PostgreSQL": [shared.postgres.pid]}
        yield Site(running, pids, make_customers(running, accounts=1))


def batch(emails: Iterable[str], key: str, host: str = "127.0.0.1") -> bytes:
    return build_request("POST", PATH, _body(emails), key, host)


def _body(emails: Iterable[str]) -> bytes:
    return json.dumps({"emails": list(emails)}).encode()


def warm_emails(number: int) -> list[str]:
    first = number * SIZE
    return [f"someone.{n}@shop{n % DOMAINS}.com" for n in range(first, first + SIZE)]


def cold_emails() -> list[str]:
    """Return addresses of domains that were never used before. The resolver's reply is slow."""
    return [f"jane@slow{next(_cold_domain_numbers)}.com" for _ in range(SIZE)]


def measure_round(executor: Executor, site: Site) -> Round:
    key = site.secrets["paid"][0]
    singles = tuple(validate(n, key) for n in range(DOMAINS))
    batches = tuple(batch(warm_emails(n), key) for n in range(10))
    single, single_cpu = _measure(executor, site, singles, SINGLE_CALLERS, 1)
    together, batch_cpu = _measure(executor, site, batches, BATCH_CALLERS, SIZE)
    cold_seconds, false_unknowns = _send_cold_batches(site, key)
    megabytes = largest_worker_megabytes(site.running.process.pid)
    return Round(single, together, single_cpu, batch_cpu, cold_seconds, false_unknowns, megabytes)


def _measure(
    executor: Executor, site: Site, requests: tuple[bytes, ...], callers: int, size: int
) -> tuple[Outcome, dict[str, float]]:
    """Return the outcome, and the CPU seconds per address of each process."""
    before = {name: cpu_seconds(pids) for name, pids in site.pids.items()}
    outcome = executor.submit(generate, Load(site.address, requests, callers, SECONDS)).result()
    addresses = len(outcome.latencies) * size
    return outcome, {
        name: (cpu_seconds(pids) - before[name]) / addresses for name, pids in site.pids.items()
    }


def _send_cold_batches(site: Site, key: str) -> tuple[list[float], int]:
    """Send batches one after the other. Return their seconds, and the number of unknown results."""
    seconds, unknowns = [], 0
    connection = http.client.HTTPConnection(*site.address)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    for _ in range(COLD_BATCHES):
        body = _body(cold_emails())
        started = time.perf_counter()
        connection.request("POST", PATH, body, headers)
        document = json.load(connection.getresponse())
        seconds.append(time.perf_counter() - started)
        unknowns += document["summary"]["unknown"]
    connection.close()
    return seconds, unknowns


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    with open_site() as site:
        # It warms up.
        measure_round(executor, site)
        rounds: list[Round] = []
        for number in range(1, ROUNDS + 1):
            rounds.append(measure_round(executor, site))
            print_progress(f"Round {number} of {ROUNDS} is done.")
    metric = partial(over_rounds, rounds)
    batches, cpu = "batches: rate relative to single calls", "CPU of {} per address, µs: {}"
    return [
        metric("single calls, addresses/s", lambda r: r.single.rate),
        metric("batches, addresses/s", lambda r: r.batches.rate * SIZE),
        metric(batches, lambda r: r.batches.rate * SIZE / r.single.rate, at_least=10),
        *(
            Metric(cpu.format(name, kind), [1e6 * getattr(r, field)[name] for r in rounds])
            for name in site.pids
            for kind, field in (("single calls", "single_cpu"), ("batches", "batch_cpu"))
        ),
        metric("a batch of cold domains, s", lambda r: mean(r.cold_seconds)),
        metric("cold domains, addresses/s", lambda r: SIZE / mean(r.cold_seconds)),
        metric("cold domains: false unknowns", lambda r: float(r.false_unknowns), at_most=0),
        metric("memory of the largest worker, MB", lambda r: r.megabytes, at_most=120),
    ]
