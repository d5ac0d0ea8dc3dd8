"""A worker that has just started reports the same as one that has run for hours."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.config.server.test_graceful_reload import web_workers
from tests.servers.client import ClientResponse, HttpCaller, wait_until_ready
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.relay import Relay, relay

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


def check(site: Product) -> ClientResponse:
    """Request /readyz on a new connection, so that old and new workers both get some."""
    return HttpCaller(site, None).get("/readyz")


def reload_and_check(site: Product) -> list[ClientResponse]:
    """Request /readyz until the old worker has ended, and once more."""
    old = web_workers(site)
    os.kill(site.process.pid, signal.SIGHUP)
    deadline, responses = time.monotonic() + 60, [check(site)]
    while old & web_workers(site) or not web_workers(site):
        assert time.monotonic() < deadline
        responses.append(check(site))
        time.sleep(0.05)
    return [*responses, check(site)]


def test_every_health_check_during_a_reload_with_a_slow_database_is_ready(tmp_path: Path) -> None:
    with product_behind_a_relay(tmp_path) as (site, between):
        wait_until_ready(HttpCaller(site, None))
        between.delay = DELAY
        responses = reload_and_check(site)
        between.delay = 0.0
    assert {(response.status, response.document["database"]) for response in responses} == {
        (200, "ok")
    }


def test_worker_starts_without_its_database_and_reports_it(tmp_path: Path) -> None:
    with product_behind_a_relay(tmp_path) as (site, between):
        between.cut()
        last = reload_and_check(site)[-1]
        between.restore()
        wait_until_ready(HttpCaller(site, None))
    assert (last.status, last.document["database"]) == (503, "unavailable")
    assert last.seconds < 2
