"""Credits pay for exactly as many requests, across processes and threads, on both databases."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.credits.killed_processes import product_on
from tests.servers.books import assert_books_agree, fetch_number
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.keys import make_key, manage
from tests.servers.product import Product
from tests.servers.raw_http import send_and_disconnect
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

WORKERS, THREADS, BALANCE, CALLS = 4, 16, 500, 800


@pytest.fixture(params=["sqlite", "postgresql"], scope="module")
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("exact")
    with product_on(request.param, folder, WEB_WORKERS=str(WORKERS)) as running:
        yield running


def test_500_credits_pay_for_exactly_500_requests(site: Product) -> None:
    secret = make_key(site, "exact@shop.example", 100_000, credits=BALANCE)
    caller = HttpCaller(site, secret)

    def call(_: int) -> ClientResponse:
        return caller.validate("no address")

    with ThreadPoolExecutor(THREADS * WORKERS) as pool:
        responses = list(pool.map(call, range(CALLS)))
    caller.close()
    assert Counter(response.status for response in responses) == {
        200: BALANCE,
        402: CALLS - BALANCE,
    }
    charged = [response for response in responses if response.status == 200]
    remaining = sorted(int(response.headers["X-Credits-Remaining"]) for response in charged)
    assert remaining == list(range(BALANCE))
    assert_books_agree(site, answered={response.document["id"] for response in charged})


def test_retry_after_a_lost_response_is_replayed_and_charged_once(site: Product) -> None:
    secret = make_key(site, "lost@shop.example", 1_000, credits=1)
    body = json.dumps({"email": "no address"}).encode()
    head = (
        f"POST /v1/validate HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Type: application/json\r\n"
        f"Idempotency-Key: lost\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    send_and_disconnect(site, head.encode() + body)
    caller = HttpCaller(site, secret)
    wait_until(lambda: not caller.get("/v1/credits").document["balance"])
    again = caller.validate("no address", Idempotency_Key="lost")
    another = caller.validate("no address", Idempotency_Key="another")
    left = caller.get("/v1/credits").document["balance"]
    caller.close()
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert (again.headers["X-Credits-Cost"], again.headers["X-Credits-Remaining"]) == ("0", "0")
    assert (another.status, left) == (402, 0)
    assert "agree" in manage(site, "check_books")


def test_commits_are_durable(site: Product) -> None:
    """A power cut loses no charge."""
    if "DATABASE_URL" not in site.environment:
        pytest.skip(
            "SQLite is opened with synchronous=FULL: tests/runtime/database/test_sqlite.py."
        )
    assert fetch_number(site, "SELECT (current_setting('fsync') = 'on')::int") == 1
    assert fetch_number(site, "SELECT (current_setting('synchronous_commit') = 'on')::int") == 1
