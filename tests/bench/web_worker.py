"""Compare gunicorn's worker classes, which alternately serve the same small application."""

import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager

from tests.bench.load import Address, Load, Outcome, build_request, generate
from tests.bench.quick_resolver import quick_resolver
from tests.bench.server import gunicorn
from tests.bench.slow_clients import HALF_A_HEAD, SILENCE, slow_clients
from tests.bench.table import Round

_SHARED = ["--workers", "2", "--worker-connections", "4000", "--keep-alive", "10"]
CONTENDERS = {
    "gthread": ["--worker-class", "gthread", "--threads", "16", *_SHARED],
    "gevent": ["--worker-class", "gevent", *_SHARED],
    "product": ["--config", "config/server/gunicorn_settings.py", *_SHARED],
}

ROUNDS = 5
WINDOW_SECONDS = 1.0
SLOW_CLIENTS = 200
SLOW_CALLS = 64
DNS_SECONDS = 0.5
# The slow calls start this much earlier than the calls that are measured at the same time.
_LEAD_SECONDS = 2 * DNS_SECONDS
# gthread's 32 threads still process the calls that the generator has abandoned.
_DRAIN_SECONDS = SLOW_CALLS / 32 * DNS_SECONDS

EMPTY = build_request("POST", "/empty", b'{"email": "someone@example.com"}')
SLOW_DNS = build_request("GET", "/slow-dns")


def measure(executor: Executor) -> Iterator[Round]:
    with _contenders() as addresses:
        for address in addresses.values():
            _call_empty(executor, address, callers=16)
        names = list(addresses)
        for _ in range(ROUNDS):
            outcomes: dict[str, dict[str, Outcome]] = {name: {} for name in names}
            for measurement in (_measure_busy, _measure_silent, _measure_half_sent, _measure_dns):
                for name in names:
                    outcomes[name] |= measurement(executor, addresses[name])
            yield outcomes
            # Rotate the order, in case the machine's other load is periodic.
            names.append(names.pop(0))


@contextmanager
def _contenders() -> Iterator[dict[str, Address]]:
    with ExitStack() as stack:
        resolver = stack.enter_context(quick_resolver(DNS_SECONDS))
        environment = {"SLOW_DNS_PORT": str(resolver.port)}
        yield {
            name: stack.enter_context(
                gunicorn("tests.bench.application", arguments, environment, EMPTY)
            ).address
            for name, arguments in CONTENDERS.items()
        }


def _measure_busy(executor: Executor, address: Address) -> dict[str, Outcome]:
    return {"busy": _call_empty(executor, address, callers=16)}


# Each disturbance is compared with undisturbed calls just before it, because the machine's other
# load changes from minute to minute.


def _measure_silent(executor: Executor, address: Address) -> dict[str, Outcome]:
    before = _call_empty(executor, address, callers=4)
    with slow_clients(address, SLOW_CLIENTS, SILENCE):
        during = _call_empty(executor, address, callers=4)
    return {"before silent": before, "silent": during}


def _measure_half_sent(executor: Executor, address: Address) -> dict[str, Outcome]:
    before = _call_empty(executor, address, callers=4)
    with slow_clients(address, SLOW_CLIENTS, HALF_A_HEAD):
        during = _call_empty(executor, address, callers=4)
    return {"before half-sent": before, "half-sent": during}


def _measure_dns(executor: Executor, address: Address) -> dict[str, Outcome]:
    before = _call_empty(executor, address, callers=4)
    slow_calls = executor.submit(generate, _slow_load(address))
    time.sleep(_LEAD_SECONDS)
    during = _call_empty(executor, address, callers=4)
    outcomes = {"before DNS": before, "DNS": during, "calls to slow DNS": slow_calls.result()}
    time.sleep(_DRAIN_SECONDS)
    return outcomes


def _call_empty(executor: Executor, address: Address, callers: int) -> Outcome:
    load = Load(address, (EMPTY,), callers, WINDOW_SECONDS)
    return executor.submit(generate, load).result()


def _slow_load(address: Address) -> Load:
    # One connection per call: 64 permanent ones could all be accepted by one of the two processes.
    seconds = _LEAD_SECONDS + WINDOW_SECONDS + 0.2
    return Load(address, (SLOW_DNS,), SLOW_CALLS, seconds, requests_per_connection=1)
