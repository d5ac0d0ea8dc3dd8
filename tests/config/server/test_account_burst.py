"""Many concurrent requests of one account leave the database connections to other accounts."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.error import HTTPError

import psycopg
import pytest

from tests.bench.load import build_request
from tests.servers.browser import PlainBrowser
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.keys import make_account, make_key
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.raw_http import send_and_disconnect
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault]

SENDER, OTHER = "sender@shop.example", "other@shop.example"
# Each sender retries at once, so the burst lasts longer than any timeout.
SENDERS, LISTS_PER_SENDER = 45, 3
OTHER_CALLERS, ROUNDS = 16, 4
LIST = json.dumps({"emails": [f"reader{number}@shop.example" for number in range(50)]})


@pytest.fixture
def database() -> Iterator[str]:
    with migrated_postgres() as url:
        yield url


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("burst")
    with product(folder, DATABASE_URL=database, WEB_WORKERS="1") as running:
        yield running


def create_list(caller: HttpCaller) -> ClientResponse:
    return caller.call("POST", "/v1/lists", LIST)


def create_lists(caller: HttpCaller) -> list[ClientResponse]:
    return [create_list(caller) for _ in range(LISTS_PER_SENDER)]


def call_everything(caller: HttpCaller, creates_lists: bool) -> list[ClientResponse]:
    responses = []
    for _ in range(ROUNDS):
        responses += [caller.validate("no address"), caller.get("/v1/usage")]
        responses += [create_list(caller) if creates_lists else caller.get("/v1/lists")]
    return responses


@contextmanager
def locked_account(database: str, email: str) -> Iterator[None]:
    """Let all requests wait that lock the account's row."""
    with psycopg.connect(database) as other:
        other.execute(
            "SELECT a.id FROM accounts_account a JOIN accounts_membership m ON m.account_id = a.id "
            "JOIN accounts_user u ON u.id = m.user_id WHERE u.email = %s FOR NO KEY UPDATE OF a",
            [email],
        )
        yield


def wait_for_lock(database: str) -> None:
    """Wait until a request waits for the lock."""
    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with psycopg.connect(database, autocommit=True) as other:
        wait_until(lambda: other.execute(query).fetchone())


def test_burst_of_lists_costs_other_accounts_no_call(site: Product, database: str) -> None:
    sender = HttpCaller(site, make_key(site, SENDER, 100_000, 100_000))
    other = HttpCaller(site, make_key(site, OTHER, 100_000, 100_000))
    with locked_account(database, SENDER), ThreadPoolExecutor(SENDERS + OTHER_CALLERS) as threads:
        burst = [threads.submit(create_lists, sender) for _ in range(SENDERS)]
        wait_for_lock(database)
        calls = [
            threads.submit(call_everything, other, number == 0) for number in range(OTHER_CALLERS)
        ]
        sent = [response for future in burst for response in future.result()]
        others = [response for future in calls for response in future.result()]
    assert len(others) == 192
    assert {response.status for response in others} == {200, 201}
    assert {response.status for response in sent} == {503}
    for response in sent:
        error = response.document["error"]
        assert error["code"] == "service_unavailable"
        assert error["details"]["retry_after"] >= 1
        assert error["details"]["charged"] is False


def test_busy_account_gets_error_pages_and_no_slot_is_lost(site: Product, database: str) -> None:
    password, secret = make_account(site, SENDER, "--requests-per-minute", "100000")
    sender, browser = HttpCaller(site, secret), PlainBrowser(site.url)
    assert "Overview" in browser.send("/accounts/login/", login=SENDER, password=password)
    ends_at, is_refused = time.monotonic() + 60, threading.Event()
    request = build_request("POST", "/v1/lists", LIST.encode(), secret)

    def send_lists() -> list[ClientResponse]:
        responses: list[ClientResponse] = []
        while not is_refused.is_set() or not responses:
            responses.append(create_list(sender))
            send_and_disconnect(site, request)
        return responses

    with locked_account(database, SENDER), ThreadPoolExecutor(16) as threads:
        burst = [threads.submit(send_lists) for _ in range(16)]
        wait_for_lock(database)
        try:
            error = load_until_refused(browser, ends_at)
        finally:
            is_refused.set()
        sent = [response for future in burst for response in future.result()]
    assert error.code == 503
    assert error.headers["Retry-After"] == "5"
    assert "Temporarily unavailable" in error.read().decode()
    assert {response.status for response in sent} == {503}
    # All failed, were refused, or were sent by clients that are gone. Their slots are free again.
    with ThreadPoolExecutor(4) as threads:
        wait_until(lambda: {r.status for r in threads.map(create_list, [sender] * 4)} == {201})
    assert "Overview" in browser.get("/validation/")


def load_until_refused(browser: PlainBrowser, ends_at: float) -> HTTPError:
    while time.monotonic() < ends_at:
        try:
            browser.get("/validation/")
        except HTTPError as error:
            return error
    raise AssertionError("No page was refused.")
