"""What slow clients cost those who are not, behind the shipped front."""

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
from tests.bench.table import Line
from tests.servers.postgres import postgres_server
from tests.servers.product import product
from tests.servers.redis import redis_server
from tests.servers.reverse_proxy import NAME, Front, front

ROUNDS, SLOW_CLIENTS = 9, 1000
# With the time it takes to come, shorter than the 5 s for which the front waits for a head.
WINDOW_SECONDS = 2.0
CALLERS, RATE = 4, 50.0
MOST_MS = 20
ENVIRONMENT = {"BASE_URL": f"https://{NAME}", "ALLOWED_HOSTS": NAME, "TRUSTED_PROXIES": "1"}


@dataclass
class Fronted:
    front: Front
    requests: tuple[bytes, ...]

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.front.port)

    def call(self, executor: Executor, seconds: float = WINDOW_SECONDS) -> Outcome:
        certificate = str(self.front.folder / "front.pem")
        load = Load(
            *(self.address, self.requests, CALLERS, seconds),
            rate=RATE,
            certificate=certificate,
            name=NAME,
        )
        return executor.submit(generate, load).result()

    @contextmanager
    def silent(self) -> Iterator[None]:
        with slow_clients(self.address, SLOW_CLIENTS, SILENCE):
            yield

    @contextmanager
    def half_sent(self) -> Iterator[None]:
        tls = self.front.tls("http/1.1")
        with slow_clients(self.address, SLOW_CLIENTS, HALF_A_HEAD, tls, NAME):
            yield


@contextmanager
def fronted() -> Iterator[Fronted]:
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        quick_resolver(0.0005) as resolver,
        postgres_server() as postgres,
        redis_server() as redis,
    ):
        given = {"DNS_RESOLVERS": resolver.address, "WEB_WORKERS": "2", **ENVIRONMENT}
        stores = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        with (
            product(Path(folder) / "product", **given, **stores) as site,
            front(Path(folder) / "front", site.port) as before,
        ):
            paid = make_customers(site)["paid"]
            numbers = zip(count(), paid, strict=False)
            yield Fronted(before, tuple(validate(n, key, host=NAME) for n, key in numbers))


def measure(executor: Executor, tell: Callable[[str], None]) -> list[Line]:
    names = ("alone", "silent", "half-sent")
    seen: dict[str, list[Outcome]] = {name: [] for name in names}
    with fronted() as it:
        it.call(executor)
        for number in range(1, ROUNDS + 1):
            seen["alone"].append(it.call(executor))
            with it.silent():
                seen["silent"].append(it.call(executor))
            with it.half_sent():
                seen["half-sent"].append(it.call(executor))
            tell(f"Round {number} of {ROUNDS} is done.")
    return [
        _line("nobody else: p99, ms", seen["alone"]),
        _line(f"{SLOW_CLIENTS:,} silent connections: p99, ms", seen["silent"], MOST_MS),
        _line(f"{SLOW_CLIENTS:,} half-sent heads: p99, ms", seen["half-sent"], MOST_MS),
    ]


def _line(label: str, outcomes: list[Outcome], at_most: float | None = None) -> Line:
    return Line(label, [1000 * percentile(outcomes, 99)], at_most=at_most)
