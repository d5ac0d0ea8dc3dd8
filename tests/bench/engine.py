"""Measure what a check by the engine costs, compared with its libraries alone, on one core."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import dns.message
import dns.query
from email_validator import validate_email

from engine.check import Engine
from engine.dns.resolver import Resolver
from tests.bench.quick_resolver import QuickResolver, max_queries_for_one_record, quick_resolver
from tests.bench.table import Metric
from tests.servers.product import ROOT

ROUNDS, THREADS = 5, 64
DOMAINS, WARM_CHECKS, COLD_CALLERS = 1_000, 5_000, 10_000
DNS_SECONDS = 0.02
LOOK_UPS = 20_000
# What `_MEASURE_START` prints, in order, with the targets. Times are CPU time, so that other load
# on the machine doesn't count.
_START_METRICS = (
    ("import, without its libraries: ms", 40),
    ("import, without its libraries: MB", 10),
    ("domain data, loaded: ms", 60),
    ("domain data, loaded: MB", 30),
    ("disposable by name: look-up, µs", 2),
    ("disposable by name or two mail hosts: look-up, µs", 5),
)
# Modules that the engine imports. Their cost is not part of the engine's.
_LIBRARIES = "import email_validator, email_validator.syntax, dns.name, dns.exception, threading\n"
_LIBRARIES += "import concurrent.futures, socket, select, secrets, logging, ipaddress\n"
_MEASURE_START = """
import json, resource, time, timeit
{libraries}
def megabytes():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize() / 1_000_000
def measure(load):
    before, start = megabytes(), time.process_time()
    result = load()
    return result, [(time.process_time() - start) * 1000, megabytes() - before]
def microseconds(look_up):
    calls = {calls}
    seconds = timeit.repeat(look_up, timer=time.process_time, number=calls, repeat=5)
    return min(seconds) / calls * 1_000_000
def import_engine():
    import engine.check
engine, of_import = measure(import_engine)
from engine.domain_data import DomainData
data = DomainData()
_, of_data = measure(data.load)
look_up = microseconds(lambda: data.is_disposable("shop-of-things.com"))
hosts = ("mx1.mail-of-things.com", "mx2.mail-of-things.com")
both = microseconds(lambda: data.disposable_by("shop-of-things.com", hosts))
print(json.dumps([*of_import, *of_data, look_up, both]))
"""


def measure() -> list[Metric]:
    _stay_on_one_core()
    with quick_resolver(DNS_SECONDS) as resolver:
        cold_checks = [_check_cold_domain(resolver, number) for number in range(ROUNDS)]
        ratios = [_check_many_domains(resolver, number) for number in range(ROUNDS)]
        queries = [float(_check_one_domain(resolver, number)) for number in range(ROUNDS)]
    starts = [_start() for _ in range(ROUNDS)]
    return [
        Metric(
            "warm domain: checks/s, relative to syntax alone", _check_warm_domain(), at_least=0.3
        ),
        Metric(
            "cold domain, resolver at 20 ms: one check, ms",
            [milliseconds for milliseconds, _ in cold_checks],
            at_most=50,
        ),
        Metric("cold domain: round trips", [float(trips) for _, trips in cold_checks], at_most=2),
        Metric(
            "1,000 cold domains, 64 threads: time relative to as many bare queries",
            [ratio for ratio, _ in ratios],
            at_most=2.5,
        ),
        Metric(
            "the same, relative to 1,000 bare queries", [ratio for _, ratio in ratios], at_most=2.5
        ),
        Metric(
            "10,000 checks of one cold domain, 64 threads: max queries per record",
            queries,
            at_most=1,
        ),
        *(
            Metric(label, [start[index] for start in starts], at_most=target)
            for index, (label, target) in enumerate(_START_METRICS)
        ),
    ]


def _stay_on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _check_warm_domain() -> list[float]:
    """Return the rate of checks, as a share of the rate of syntax checks alone."""
    email = "Jane.Doe+news@warm-domain.com"
    with quick_resolver(0) as resolver:
        engine = Engine(Resolver([resolver.address]))
        engine.check(email)

        def syntax() -> None:
            for _ in range(WARM_CHECKS):
                validate_email(email, check_deliverability=False)

        def checks() -> None:
            for _ in range(WARM_CHECKS):
                engine.check(email)

        return [_seconds(syntax) / _seconds(checks) for _ in range(ROUNDS)]


def _check_cold_domain(resolver: QuickResolver, number: int) -> tuple[float, int]:
    """Return the milliseconds and the round trips of a check."""
    engine = Engine(Resolver([resolver.address]))
    resolver.take_queries()
    seconds = _seconds(lambda: engine.check(f"jane@cold{number}.com"))
    times = [at for at, _ in resolver.take_queries()]
    return seconds * 1000, len({int((at - times[0]) / DNS_SECONDS) for at in times})


def _check_many_domains(resolver: QuickResolver, number: int) -> tuple[float, float]:
    """Return the time of the checks, as a multiple of two numbers of bare queries.

    The first number is that of the queries which the checks sent, the second is one per domain.
    """
    engine = Engine(Resolver([resolver.address]))
    resolver.take_queries()
    with ThreadPoolExecutor(THREADS) as pool:

        def check(domain: int) -> None:
            assert engine.check(f"jane@many{number}x{domain}.com").reason == "domain_accepts_mail"

        def send_query(domain: int) -> None:
            query = dns.message.make_query(f"bare{number}x{domain}.com", "MX")
            dns.query.udp(query, "127.0.0.1", port=resolver.port, timeout=5)

        seconds = _seconds(lambda: list(pool.map(check, range(DOMAINS))))
        count = len(resolver.take_queries())
        same_count_seconds = _seconds(lambda: list(pool.map(send_query, range(count))))
        per_domain_seconds = _seconds(lambda: list(pool.map(send_query, range(DOMAINS))))
    return seconds / same_count_seconds, seconds / per_domain_seconds


def _check_one_domain(resolver: QuickResolver, number: int) -> int:
    """Check one domain for many callers, and return the queries for its most requested record."""
    engine = Engine(Resolver([resolver.address]))
    resolver.take_queries()
    with ThreadPoolExecutor(THREADS) as pool:
        list(
            pool.map(lambda caller: engine.check(f"{caller}@one{number}.com"), range(COLD_CALLERS))
        )
    return max_queries_for_one_record(resolver.take_queries())


def _start() -> list[float]:
    """Measure a new process that imports the engine after its libraries and loads its data."""
    script = _MEASURE_START.format(libraries=_LIBRARIES, calls=LOOK_UPS)
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True
    )
    numbers: list[float] = json.loads(result.stdout)
    return numbers
