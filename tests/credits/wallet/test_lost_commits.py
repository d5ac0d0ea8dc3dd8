"""Freeze and kill PostgreSQL under load: no 503 misstates whether a request was charged."""

import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.credits.wallet.test_kills import CALLERS, Load, load_on
from tests.servers.books import fetch_number, fetch_rows
from tests.servers.client import ClientResponse
from tests.servers.keys import manage
from tests.servers.postgres import Postgres, postgres_server
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.fault]

DISRUPTIONS = 3


def freeze(server: Postgres) -> None:
    with server.frozen():
        time.sleep(2)


def freeze_and_kill(server: Postgres) -> None:
    # A killed process can't be resumed.
    with suppress(psutil.NoSuchProcess), server.frozen():
        time.sleep(2)
        server.kill()
    server.restart()


def charged(refusal: ClientResponse) -> bool | None:
    details: dict[str, bool | None] = refusal.document["error"]["details"]
    return details["charged"]


def charged_requests(site: Product) -> set[str]:
    return {
        request_id
        for (request_id,) in fetch_rows(
            site, "SELECT request_id FROM validation_logentry WHERE cost > 0"
        )
    }


def assert_no_503_misstates_a_charge(site: Product, load: Load) -> None:
    assert {response.status for response in load.refusals} == {503}
    stored = charged_requests(site)
    for response in load.refusals:
        if charged(response) is False:
            assert response.headers["X-Request-Id"] not in stored, response.text


def assert_every_lost_charge_is_refunded(site: Product, load: Load) -> None:
    """Assert that requests without an idempotency key that got no 200 cost nothing in the end."""
    ends_at = time.monotonic() + 60
    while fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") != len(load.answered):
        assert time.monotonic() < ends_at, "A charge whose response was lost is still there."
        # Refunds charges that were stored after the worker's last check.
        manage(site, "run_daily")
        time.sleep(1)
    assert "agree" in manage(site, "check_books")
    logged = fetch_rows(site, "SELECT result_id FROM validation_logentry WHERE cost > 0")
    assert {result_id for (result_id,) in logged} == set(load.answered.values())


@pytest.mark.parametrize("disrupt", [freeze, freeze_and_kill])
def test_no_503_misstates_a_charge_and_every_lost_charge_is_refunded(
    tmp_path: Path, disrupt: object
) -> None:
    assert callable(disrupt)
    with postgres_server() as server, product(tmp_path, DATABASE_URL=server.url) as site:
        with load_on(site, "lost@shop.example", without_key=CALLERS) as load:
            for _ in range(DISRUPTIONS):
                load.wait_for(100)
                disrupt(server)
            load.wait_for(100)
        assert load.refusals
        # No worker was killed, so each caller got a response.
        assert not load.lost
        assert_no_503_misstates_a_charge(site, load)
        assert_every_lost_charge_is_refunded(site, load)
