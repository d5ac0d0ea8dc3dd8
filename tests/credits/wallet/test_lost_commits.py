"""Frozen and killed under load, PostgreSQL loses responses: no 503 lies about what was charged."""

import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.credits.wallet.test_kills import CALLERS, Load, load_on
from tests.servers.books import ask, number
from tests.servers.client import HttpAnswer
from tests.servers.keys import manage
from tests.servers.postgres import Postgres, postgres_server
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.fault]

TIMES = 3


def freeze(server: Postgres) -> None:
    with server.frozen():
        time.sleep(2)


def freeze_and_kill(server: Postgres) -> None:
    # What is killed cannot be thawed.
    with suppress(psutil.NoSuchProcess), server.frozen():
        time.sleep(2)
        server.kill()
    server.start_again()


def charged(refusal: HttpAnswer) -> bool | None:
    details: dict[str, bool | None] = refusal.document["error"]["details"]
    return details["charged"]


def charged_requests(site: Product) -> set[str]:
    return {
        one for (one,) in ask(site, "SELECT request_id FROM validation_logentry WHERE cost > 0")
    }


def assert_no_503_lied(site: Product, load: Load) -> None:
    assert {answer.status for answer in load.refusals} == {503}
    stored = charged_requests(site)
    for answer in load.refusals:
        if charged(answer) is False:
            assert answer.headers["X-Request-Id"] not in stored, answer.text


def assert_every_lost_charge_is_refunded(site: Product, load: Load) -> None:
    """Each request without an Idempotency-Key that was not answered with a 200 costs nothing."""
    ends_at = time.monotonic() + 20
    while number(site, "SELECT SUM(credits) FROM credits_usehour") != len(load.answered):
        assert time.monotonic() < ends_at, "A charge whose response was lost is still there."
        # What was stored after the worker looked.
        manage(site, "run_daily")
        time.sleep(1)
    assert "agree" in manage(site, "check_books")
    logged = ask(site, "SELECT result_id FROM validation_logentry WHERE cost > 0")
    assert {one for (one,) in logged} == set(load.answered.values())


@pytest.mark.parametrize("hurt", [freeze, freeze_and_kill])
def test_no_503_lies_about_money_and_every_lost_charge_is_refunded(
    tmp_path: Path, hurt: object
) -> None:
    assert callable(hurt)
    with postgres_server() as server, product(tmp_path, DATABASE_URL=server.url) as site:
        with load_on(site, "lost@shop.example", without_key=CALLERS) as load:
            for _ in range(TIMES):
                load.wait_for(100)
                hurt(server)
            load.wait_for(100)
        assert load.refusals
        # No worker was killed: each caller had a response.
        assert not load.lost
        assert_no_503_lied(site, load)
        assert_every_lost_charge_is_refunded(site, load)
