"""A worker that has just started reports the same as one that has run for hours."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.servers.client import ClientResponse, HttpCaller, wait_until_ready
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.relay import Relay, relay
from tests.servers.web_workers import replace_web_workers
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

# With this delay in each direction, a query takes 0.4 s. A worker's first check takes several
# queries, and so longer than /readyz waits, as on a busy machine.
DELAY = 0.2


@contextmanager
def product_behind_a_relay(folder: Path) -> Iterator[tuple[Product, Relay]]:
    with migrated_postgres() as url:
        (socket_folder,) = parse_qs(urlsplit(url).query)["host"]
        with relay(f"{socket_folder}/.s.PGSQL.5432") as between:
            database = f"postgres://postgres@127.0.0.1:{between.port}/postgres"
            with product(folder, DATABASE_URL=database, WEB_WORKERS="1") as site:
                yield site, between


def restart_and_check(site: Product) -> list[ClientResponse]:
    """Replace the worker, and return the first two responses of the new one to /readyz."""
    replace_web_workers(site)
    responses: list[ClientResponse] = []

    def check() -> int:
        # The first connection waits until the worker has started.
        with suppress(TimeoutError):
            responses.append(HttpCaller(site, None).get("/readyz"))
        return len(responses)

    wait_until(lambda: check() == 2)
    return responses


def test_first_health_check_of_a_worker_with_a_slow_database_is_ready(tmp_path: Path) -> None:
    with product_behind_a_relay(tmp_path) as (site, between):
        wait_until_ready(HttpCaller(site, None))
        between.delay = DELAY
        responses = restart_and_check(site)
        between.delay = 0.0
    assert {(response.status, response.document["database"]) for response in responses} == {
        (200, "ok")
    }


def test_worker_starts_without_its_database_and_reports_it(tmp_path: Path) -> None:
    with product_behind_a_relay(tmp_path) as (site, between):
        between.cut()
        last = restart_and_check(site)[-1]
        between.restore()
        wait_until_ready(HttpCaller(site, None))
    assert (last.status, last.document["database"]) == (503, "unavailable")
    assert last.seconds < 2
