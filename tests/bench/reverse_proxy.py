"""Measure how slow clients affect other clients behind the shipped reverse proxy."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.api import validate
from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, generate, percentile
from tests.bench.quick_resolver import quick_resolver
from tests.bench.slow_clients import HALF_A_HEAD, SILENCE, slow_clients
from tests.bench.table import Metric
from tests.servers.postgres import postgres_server
from tests.servers.product import product
from tests.servers.redis import redis_server
from tests.servers.reverse_proxy import NAME, ReverseProxy, reverse_proxy

ROUNDS, SLOW_CLIENTS = 9, 1000
# Shorter than the 5 s for which nginx waits for a head, the time to connect included.
WINDOW_SECONDS = 2.0
CALLERS, RATE = 4, 50.0
MAX_MS = 20
ENVIRONMENT = {"BASE_URL": f"https://{NAME}", "ALLOWED_HOSTS": NAME, "TRUSTED_PROXIES": "1"}


@dataclass
class ProxiedProduct:
    nginx: ReverseProxy
    requests: tuple[bytes, ...]

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.nginx.port)

    def call(self, executor: Executor, seconds: float = WINDOW_SECONDS) -> Outcome:
        certificate = str(self.nginx.folder / "proxy.pem")
        load = Load(
            *(self.address, self.requests, CALLERS, seconds),
            rate=RATE,
            certificate=certificate,
            name=NAME,
        )
        return executor.submit(generate, load).result()

    @contextmanager
    def silent_clients(self) -> Iterator[None]:
        with slow_clients(self.address, SLOW_CLIENTS, SILENCE):
            yield

    @contextmanager
    def half_sent_heads(self) -> Iterator[None]:
        tls = self.nginx.tls("http/1.1")
        with slow_clients(self.address, SLOW_CLIENTS, HALF_A_HEAD, tls, NAME):
            yield


@contextmanager
def proxied_product() -> Iterator[ProxiedProduct]:
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        quick_resolver(0.0005) as resolver,
        postgres_server() as postgres,
        redis_server() as redis,
    ):
        environment = {"DNS_RESOLVERS": resolver.address, "WEB_WORKERS": "2", **ENVIRONMENT}
        stores = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        with (
            product(Path(folder) / "product", **environment, **stores) as site,
            reverse_proxy(Path(folder) / "reverse_proxy", site.port) as nginx,
        ):
            paid = make_customers(site)["paid"]
            numbers = zip(count(), paid, strict=False)
            yield ProxiedProduct(nginx, tuple(validate(n, key, host=NAME) for n, key in numbers))


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    alone: list[Outcome] = []
    silent: list[Outcome] = []
    half_sent: list[Outcome] = []
    with proxied_product() as running:
        running.call(executor)
        for number in range(1, ROUNDS + 1):
            alone.append(running.call(executor))
            with running.silent_clients():
                silent.append(running.call(executor))
            with running.half_sent_heads():
                half_sent.append(running.call(executor))
            print_progress(f"Round {number} of {ROUNDS} is done.")
    return [
        _metric("no slow clients: p99, ms", alone),
        _metric(f"{SLOW_CLIENTS:,} silent connections: p99, ms", silent, MAX_MS),
        _metric(f"{SLOW_CLIENTS:,} half-sent heads: p99, ms", half_sent, MAX_MS),
    ]


def _metric(label: str, outcomes: list[Outcome], at_most: float | None = None) -> Metric:
    return Metric(label, [1000 * percentile(outcomes, 99)], at_most=at_most)
