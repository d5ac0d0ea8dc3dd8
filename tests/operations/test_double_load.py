"""Under twice the load it can serve, the product sheds requests and recovers."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, count

import pytest

from tests.bench.api import validate
from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, generate
from tests.bench.processes import largest_worker_megabytes
from tests.bench.servers import servers
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.fault]

CALLERS, TOP_RATE_CALLERS, LIGHT_LOAD_CALLERS = 1000, 16, 4
SECONDS, TOP_SECONDS = 5.0, 1.5
# Between customers who keep their connections and customers who connect for each call.
REQUESTS_PER_CONNECTION = 10
# After the overload, a light load measures the recovery each second, for at most this long.
MAX_RECOVERY_SECONDS = 10
# One account in this many has exhausted its rate limit.
ACCOUNTS, ACCOUNTS_PER_LIMITED = 20, 10


@pytest.fixture(scope="module")
def site() -> Iterator[Product]:
    with (
        servers() as shared,
        product(shared.folder / "product", WEB_WORKERS="2", **shared.environment) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def requests(site: Product) -> tuple[bytes, ...]:
    secrets = make_customers(site, ACCOUNTS)
    limited = secrets["limited"][: ACCOUNTS // ACCOUNTS_PER_LIMITED]
    return tuple(map(validate, count(), chain(secrets["paid"], limited)))


def test_double_load_is_shed_without_memory_growth_and_product_recovers(
    site: Product, requests: tuple[bytes, ...]
) -> None:
    address = Address("127.0.0.1", site.port)
    with ThreadPoolExecutor(1) as executor:

        def start(callers: int, seconds: float, rate: float | None = None) -> "Future[Outcome]":
            per_connection = REQUESTS_PER_CONNECTION
            load = Load(address, requests, callers, seconds, per_connection, None, rate)
            return executor.submit(generate, load)

        # Warm up.
        start(TOP_RATE_CALLERS, 1.0).result()
        top_rate = start(TOP_RATE_CALLERS, TOP_SECONDS).result().rate
        before = start(LIGHT_LOAD_CALLERS, TOP_SECONDS, top_rate / 10).result().percentile(50)
        during = start(CALLERS, SECONDS, 2 * top_rate)
        megabytes = _watch_memory(site, during)
        for _ in range(MAX_RECOVERY_SECONDS):
            after = start(LIGHT_LOAD_CALLERS, 1.0, top_rate / 10).result()
            if after.percentile(50) <= 1.5 * before:
                break
    statuses = set(during.result().by_status)
    assert {200, 429} <= statuses <= {200, 429, 503}
    # Since the first third, when all caches have filled. Other tests run at the same time.
    assert megabytes[-1] < 1.5 * megabytes[len(megabytes) // 3]
    assert set(after.by_status) <= {200, 429}
    assert after.percentile(50) < 10 * before + 0.5
    assert "Traceback" not in site.output()


def _watch_memory(site: Product, load: "Future[Outcome]") -> list[float]:
    megabytes = [largest_worker_megabytes(site.process.pid)]
    while not load.done():
        time.sleep(1)
        megabytes.append(largest_worker_megabytes(site.process.pid))
    return megabytes
