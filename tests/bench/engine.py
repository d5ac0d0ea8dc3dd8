"""What a check of the engine costs, against what its libraries cost alone. On one core."""

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

from tests.bench.quick_resolver import QuickResolver, most_for_one_record, quick_resolver
from tests.bench.server import REPOSITORY
from tests.bench.table import Line
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

ROUNDS, THREADS = 5, 64
DOMAINS, WARM_CHECKS, COLD_CALLERS = 1_000, 5_000, 10_000
DNS_SECONDS = 0.02
# What the engine is built on, as far as it needs it; and the engine on top.
_LIBRARIES = "import email_validator, email_validator.syntax, dns.name, dns.exception, threading\n"
_LIBRARIES += "import concurrent.futures, socket, select, secrets, logging, ipaddress\n"
_MEASURE_IMPORT = """
import json, resource, time
{libraries}
def megabytes():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize() / 1_000_000
before, began = megabytes(), time.perf_counter()
import validation.engine.check
took = time.perf_counter() - began
print(json.dumps([took * 1000, megabytes() - before]))
"""


def measure() -> list[Line]:
    _stay_on_one_core()
    with quick_resolver(DNS_SECONDS) as resolver:
        colds = [_cold(resolver, number) for number in range(ROUNDS)]
        many = [_many_domains(resolver, number) for number in range(ROUNDS)]
        one = [float(_one_cold_domain(resolver, number)) for number in range(ROUNDS)]
    imports = [_import() for _ in range(ROUNDS)]
    return [
        Line("warm domain: checks/s, against syntax alone", _warm(), at_least=0.3),
        Line(
            "cold domain, resolver at 20 ms: one check, ms", [took for took, _ in colds], at_most=50
        ),
        Line("cold domain: round trips", [float(trips) for _, trips in colds], at_most=2),
        Line(
            "1,000 cold domains, 64 threads: against as many bare queries",
            _first(many),
            at_most=2.5,
        ),
        Line("the same, against 1,000 bare queries", [alone for _, alone in many], at_most=2.5),
        Line("10,000 checks of one cold domain, 64 threads: most for one record", one, at_most=1),
        Line("import, over its libraries: ms", [took for took, _ in imports], at_most=40),
        Line("import, over its libraries: MB", [size for _, size in imports], at_most=10),
    ]


def _stay_on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _first(pairs: list[tuple[float, float]]) -> list[float]:
    return [one for one, _ in pairs]


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _warm() -> list[float]:
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


def _cold(resolver: QuickResolver, number: int) -> tuple[float, int]:
    engine = Engine(Resolver([resolver.address]))
    resolver.asked()
    took = _seconds(lambda: engine.check(f"jane@cold{number}.com"))
    times = [when for when, _ in resolver.asked()]
    return took * 1000, len({int((when - times[0]) / DNS_SECONDS) for when in times})


def _many_domains(resolver: QuickResolver, number: int) -> tuple[float, float]:
    """Against the same number of queries as it sent, and against one for each domain."""
    engine = Engine(Resolver([resolver.address]))
    resolver.asked()
    with ThreadPoolExecutor(THREADS) as pool:

        def check(domain: int) -> None:
            assert engine.check(f"jane@many{number}x{domain}.com").reason == "domain_accepts_mail"

        def ask(domain: int) -> None:
            query = dns.message.make_query(f"bare{number}x{domain}.com", "MX")
            dns.query.udp(query, "127.0.0.1", port=resolver.port, timeout=5)

        took = _seconds(lambda: list(pool.map(check, range(DOMAINS))))
        sent = len(resolver.asked())
        as_many = _seconds(lambda: list(pool.map(ask, range(sent))))
        alone = _seconds(lambda: list(pool.map(ask, range(DOMAINS))))
    return took / as_many, took / alone


def _one_cold_domain(resolver: QuickResolver, number: int) -> int:
    engine = Engine(Resolver([resolver.address]))
    resolver.asked()
    with ThreadPoolExecutor(THREADS) as pool:
        list(
            pool.map(lambda caller: engine.check(f"{caller}@one{number}.com"), range(COLD_CALLERS))
        )
    return most_for_one_record(resolver.asked())


def _import() -> tuple[float, float]:
    script = _MEASURE_IMPORT.format(libraries=_LIBRARIES)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, check=True
    )
    took, size = json.loads(done.stdout)
    return took, size
