"""Limits are exact across eight processes with either store, and approximate without a store."""

import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.servers.browser import PlainBrowser
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.keys import make_key, make_window_end_in, manage
from tests.servers.product import Product, product
from tests.servers.redis import redis, redis_server
from tests.servers.relay import Relay, relay

pytestmark = [pytest.mark.process, pytest.mark.proof]

LIMIT = 120
BATCH_SIZE = 7
WORKERS = 2


@pytest.fixture(params=["sqlite", "redis"], scope="module")
def eight(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp(request.param)
    with redis() as url:
        store = {"REDIS_URL": url} if request.param == "redis" else {}
        with product(folder, WEB_WORKERS="8", **store) as running:
            yield running


def caller_in_new_window(site: Product, email: str, limit: int) -> HttpCaller:
    secret = make_key(site, email, limit)
    make_window_end_in(50, site, email)
    return HttpCaller(site, secret)


def test_eight_processes_enforce_the_limit_exactly(eight: Product) -> None:
    caller = caller_in_new_window(eight, "exact@shop.example", LIMIT)
    responses = caller.get_concurrently(3 * LIMIT)
    statuses = Counter(response.status for response in responses)
    assert statuses == {200: LIMIT, 429: 2 * LIMIT}
    left = [int(a.headers["X-RateLimit-Remaining"]) for a in responses if a.status == 200]
    assert sorted(left) == list(range(LIMIT))


def send_batch(caller: HttpCaller, emails: list[str], key: str = "") -> ClientResponse:
    headers = {"Idempotency-Key": key} if key else {}
    return caller.call("POST", "/v1/validate/batch", json.dumps({"emails": emails}), headers)


def test_eight_processes_count_batches_exactly(eight: Product) -> None:
    """A refused batch has consumed one request, as any refused request has."""
    secret = make_key(eight, "batches@shop.example", LIMIT)
    make_window_end_in(50, eight, "batches@shop.example")
    caller = HttpCaller(eight, secret)
    sandbox = [f"deliverable+{number}@sandbox.test" for number in range(BATCH_SIZE)]
    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda _: send_batch(caller, sandbox), range(40)))
    statuses = Counter(response.status for response in responses)
    accepted, refused = statuses[200], statuses[429]
    assert accepted + refused == 40
    remaining = min(
        int(response.headers["X-RateLimit-Remaining"])
        for response in responses
        if response.status == 200
    )
    # Every accepted batch consumed exactly seven, and there was no room for another one.
    assert accepted * BATCH_SIZE <= LIMIT
    assert LIMIT - remaining >= accepted * BATCH_SIZE
    assert accepted >= (LIMIT - 40) // BATCH_SIZE
    caller.close()


def test_racing_batches_with_one_key_are_charged_once(eight: Product) -> None:
    email = "racing@shop.example"
    caller = HttpCaller(eight, make_key(eight, email, 10_000, credits=100))
    emails = [f"address {number}" for number in range(10)]
    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda _: send_batch(caller, emails, "import-1"), range(32)))
    assert {response.status for response in responses} == {200}
    assert len({response.text for response in responses}) == 1
    charged = [int(response.headers["X-Credits-Cost"]) for response in responses]
    assert sorted(charged) == [0] * 31 + [10]
    assert caller.get("/v1/credits").document["balance"] == 90
    caller.close()
    assert manage(eight, "check_books").endswith(" agree.")


def test_revoked_key_fails_on_the_next_request_in_every_process(eight: Product) -> None:
    secret = eight.owner_key()
    # Different processes accept most of these connections.
    callers = [HttpCaller(eight, secret) for _ in range(12)]
    assert {caller.get().status for caller in callers} == {200}
    browser = PlainBrowser(eight.url)
    browser.send("/accounts/login/", login="owner@example.com", password=eight.owner_password())
    links = re.findall(r"/apikeys/key_\w+/revoke/", browser.get("/apikeys/"))
    browser.send(links[0])
    responses = [caller.get() for caller in callers]
    assert {response.status for response in responses} == {401}
    assert all("api_key_revoked" in response.text for response in responses)


@pytest.fixture(scope="module")
def behind_relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, Relay, int]]:
    """Yield a product, the relay in front of its Redis, and the process id of Redis."""
    folder = tmp_path_factory.mktemp("relay")
    with redis_server() as server, relay(urlsplit(server.url).port or 0) as between:
        store = {"REDIS_URL": f"redis://127.0.0.1:{between.port}/0"}
        with product(folder, WEB_WORKERS=str(WORKERS), **store) as running:
            yield running, between, server.pid


def wait_for_exact_counts(site: Product, caller: HttpCaller) -> None:
    """Wait until both workers count in the store again."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        callers = [HttpCaller(site, caller.secret) for _ in range(8)]
        left = [int(c.get().headers["X-RateLimit-Remaining"]) for c in callers]
        if left == list(range(left[0], left[0] - len(left), -1)) and left[-1] > 0:
            return
        time.sleep(0.2)
    pytest.fail("The workers did not return to the store.")


@contextmanager
def failing_store(failure: str, between: Relay, server: int) -> Iterator[None]:
    if failure == "refused":
        between.cut()
    elif failure == "slow":
        between.delay = 1.0
    else:
        psutil.Process(server).suspend()
    try:
        yield
    finally:
        if failure == "refused":
            between.restore()
        between.delay = 0.0
        psutil.Process(server).resume()


@pytest.mark.fault
@pytest.mark.parametrize("failure", ["refused", "slow", "frozen"])
def test_workers_enforce_their_share_without_delay_while_the_store_is_unavailable(
    behind_relay: tuple[Product, Relay, int], failure: str
) -> None:
    site, between, server = behind_relay
    caller = caller_in_new_window(site, f"{failure}@shop.example", LIMIT)
    patient = HttpCaller(site, make_key(site, f"patient-{failure}@shop.example", 100_000))
    caller.get()
    logged = site.output().count("store is unavailable")
    with failing_store(failure, between, server):
        # With a connection each, so that both workers get some.
        callers = [HttpCaller(site, caller.secret) for _ in range(24)]
        responses = [c.get() for c in callers]
        responses += [response for c in callers for response in c.get_concurrently(20, threads=1)]
        # New connections: the others may have been idle for too long.
        health = [HttpCaller(site, caller.secret).get("/readyz") for _ in range(4)]
    # The load balancer must keep sending requests.
    assert {(check.status, check.document["counters"]) for check in health} == {(200, "degraded")}
    statuses = Counter(response.status for response in responses)
    assert set(statuses) == {200, 429}
    # Each of the two workers enforces half of the limit.
    assert LIMIT // WORKERS <= statuses[200] <= LIMIT
    delayed = [response for response in responses if response.seconds > 0.45]
    # At least one per worker. A busy machine delays others, but not most.
    assert len(delayed) < len(responses) / 4
    assert all(int(response.headers["X-RateLimit-Remaining"]) >= 0 for response in responses)
    assert site.output().count("store is unavailable") - logged <= WORKERS
    wait_for_exact_counts(site, patient)


@pytest.mark.fault
def test_users_can_sign_in_while_the_store_is_unavailable(
    behind_relay: tuple[Product, Relay, int],
) -> None:
    site, between, _ = behind_relay
    between.cut()
    try:
        browser = PlainBrowser(site.url)
        password = site.owner_password()
        page = browser.send("/accounts/login/", login="owner@example.com", password=password)
    finally:
        between.restore()
    assert "<h1>Overview</h1>" in page
    patient = HttpCaller(site, make_key(site, "patient-sign-in@shop.example", 100_000))
    wait_for_exact_counts(site, patient)


@pytest.mark.fault
def test_locked_counters_file_blocks_no_worker(tmp_path: Path) -> None:
    with product(tmp_path, WEB_WORKERS="1") as site:
        caller = caller_in_new_window(site, "locked@shop.example", LIMIT)
        caller.get()
        lock = sqlite3.connect(tmp_path / "counters.sqlite3", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        responses = [caller.get() for _ in range(LIMIT * 2 + 10)]
        caller.close()
        lock.execute("ROLLBACK")
        lock.close()
    statuses = Counter(response.status for response in responses)
    assert statuses == {200: LIMIT, 429: LIMIT + 10}
    # The first one. A busy machine delays others, but not most.
    assert len([response for response in responses if response.seconds > 0.45]) < LIMIT / 4
