"""Limits hold exactly over eight processes, on either store, and roughly without one."""

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
from tests.servers.client import HttpCaller
from tests.servers.keys import end_window_in, make_key
from tests.servers.product import Product, product
from tests.servers.redis import redis, redis_server
from tests.servers.relay import Relay, relay

pytestmark = [pytest.mark.process, pytest.mark.proof]

LIMIT = 120
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


def caller_in_a_young_window(site: Product, email: str, limit: int) -> HttpCaller:
    secret = make_key(site, email, limit)
    end_window_in(50, site, email)
    return HttpCaller(site, secret)


def test_eight_processes_let_exactly_as_many_requests_pass_as_the_limit_says(
    eight: Product,
) -> None:
    caller = caller_in_a_young_window(eight, "exact@shop.example", LIMIT)
    answers = caller.at_once(3 * LIMIT)
    statuses = Counter(answer.status for answer in answers)
    assert statuses == {200: LIMIT, 429: 2 * LIMIT}
    left = [int(a.headers["X-RateLimit-Remaining"]) for a in answers if a.status == 200]
    assert sorted(left) == list(range(LIMIT))


def test_waiting_as_long_as_retry_after_says_is_enough(eight: Product) -> None:
    caller = HttpCaller(eight, make_key(eight, "patient@shop.example", 3))
    end_window_in(5, eight, "patient@shop.example")
    refused = next(answer for answer in caller.at_once(20) if answer.status == 429)
    wait = int(refused.headers["Retry-After"])
    assert 1 <= wait <= 6
    time.sleep(wait)
    assert caller.get().status == 200


def test_a_revoked_key_fails_on_the_next_request_in_every_process(eight: Product) -> None:
    secret = eight.owner_key()
    # Each connection is another process's, more or less.
    callers = [HttpCaller(eight, secret) for _ in range(12)]
    assert {caller.get().status for caller in callers} == {200}
    browser = PlainBrowser(eight.url)
    browser.send("/accounts/login/", login="owner@example.com", password=eight.owner_password())
    links = re.findall(r"/apikeys/key_\w+/revoke/", browser.get("/apikeys/"))
    browser.send(links[0])
    answers = [caller.get() for caller in callers]
    assert {answer.status for answer in answers} == {401}
    assert all("api_key_revoked" in answer.text for answer in answers)


def test_one_idempotency_key_from_many_callers_has_one_answer(eight: Product) -> None:
    caller = HttpCaller(eight, make_key(eight, "again@shop.example", 1000))
    with ThreadPoolExecutor(16) as pool:
        answers = list(
            pool.map(lambda _: caller.validate("no address", Idempotency_Key="one"), range(64))
        )
    assert {answer.status for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    first = [answer for answer in answers if "Idempotent-Replayed" not in answer.headers]
    assert len(first) == 1


@pytest.fixture(scope="module")
def behind_relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, Relay, int]]:
    """With the process id of the Redis behind it."""
    folder = tmp_path_factory.mktemp("relay")
    with redis_server() as server, relay(urlsplit(server.url).port or 0) as between:
        store = {"REDIS_URL": f"redis://127.0.0.1:{between.port}/0"}
        with product(folder, WEB_WORKERS=str(WORKERS), **store) as running:
            yield running, between, server.pid


def wait_until_it_counts_again(site: Product, caller: HttpCaller) -> None:
    """Both workers take from one number again."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        callers = [HttpCaller(site, caller.secret) for _ in range(8)]
        left = [int(one.get().headers["X-RateLimit-Remaining"]) for one in callers]
        if left == list(range(left[0], left[0] - len(left), -1)) and left[-1] > 0:
            return
        time.sleep(0.2)
    pytest.fail("The store did not count again.")


@contextmanager
def in_trouble(trouble: str, between: Relay, server: int) -> Iterator[None]:
    if trouble == "refused":
        between.cut()
    elif trouble == "slow":
        between.delay = 1.0
    else:
        psutil.Process(server).suspend()
    try:
        yield
    finally:
        if trouble == "refused":
            between.mend()
        between.delay = 0.0
        psutil.Process(server).resume()


@pytest.mark.parametrize("trouble", ["refused", "slow", "frozen"])
def test_without_its_store_each_worker_counts_its_share_and_holds_nobody_up(
    behind_relay: tuple[Product, Relay, int], trouble: str
) -> None:
    site, between, server = behind_relay
    caller = caller_in_a_young_window(site, f"{trouble}@shop.example", LIMIT)
    patient = HttpCaller(site, make_key(site, f"patient-{trouble}@shop.example", 100_000))
    caller.get()
    known = site.output().count("does not answer")
    with in_trouble(trouble, between, server):
        # A new connection each: they come to both workers.
        callers = [HttpCaller(site, caller.secret) for _ in range(24)]
        answers = [one.get() for one in callers]
        answers += [answer for one in callers for answer in one.at_once(20, threads=1)]
        health = [one.get("/readyz") for one in callers[:4]]
    # No reason to send nobody any more.
    assert {(one.status, one.document["counters"]) for one in health} == {(200, "degraded")}
    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) == {200, 429}
    # Each worker its half.
    assert LIMIT // WORKERS <= statuses[200] <= LIMIT
    held_up = [answer for answer in answers if answer.seconds > 0.45]
    assert len(held_up) <= WORKERS
    assert all(int(answer.headers["X-RateLimit-Remaining"]) >= 0 for answer in answers)
    assert site.output().count("does not answer") - known <= WORKERS
    wait_until_it_counts_again(site, patient)


def test_without_its_store_people_still_sign_in(behind_relay: tuple[Product, Relay, int]) -> None:
    site, between, _ = behind_relay
    between.cut()
    try:
        browser = PlainBrowser(site.url)
        password = site.owner_password()
        page = browser.send("/accounts/login/", login="owner@example.com", password=password)
    finally:
        between.mend()
    assert "<h1>Overview</h1>" in page
    patient = HttpCaller(site, make_key(site, "patient-sign-in@shop.example", 100_000))
    wait_until_it_counts_again(site, patient)


def test_when_the_store_is_back_it_counts_again(behind_relay: tuple[Product, Relay, int]) -> None:
    site, *_ = behind_relay
    caller = caller_in_a_young_window(site, "back@shop.example", 10)
    statuses = Counter(answer.status for answer in caller.at_once(30))
    assert statuses == {200: 10, 429: 20}


def test_a_locked_counters_file_stops_no_worker(tmp_path: Path) -> None:
    with product(tmp_path, WEB_WORKERS="1") as site:
        caller = caller_in_a_young_window(site, "locked@shop.example", LIMIT)
        caller.get()
        lock = sqlite3.connect(tmp_path / "counters.sqlite3", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        answers = [caller.get() for _ in range(LIMIT * 2 + 10)]
        caller.close()
        lock.execute("ROLLBACK")
        lock.close()
    statuses = Counter(answer.status for answer in answers)
    assert statuses == {200: LIMIT, 429: LIMIT + 10}
    assert len([answer for answer in answers if answer.seconds > 0.45]) <= 1
