"""Kill web workers, holding processes and the database under load: no credit is lost."""

import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.credits.killed_processes import product_on, start_process
from tests.servers.books import assert_books_agree, fetch_number, fetch_rows
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.keys import make_account, make_key, manage
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.fault]

BALANCE, CALLERS, KILLS = 1_000_000, 8, 6
BATCH_SIZE = 20
# A 503 is sent within two seconds, but the machine that runs the tests may be busy.
MAX_SECONDS = 4


class Load:
    """Concurrent callers that repeat each request until they get its response.

    They send an idempotency key per request, except the last `without_key` callers.
    """

    def __init__(self, site: Product, secret: str, *, without_key: int = 0) -> None:
        self.site, self.secret = site, secret
        self.with_key = range(CALLERS - without_key)
        self.refusals: list[ClientResponse] = []
        self.stopping = threading.Event()
        self.answered: dict[str, str] = {}
        self.costs: list[int] = []
        self.lost = 0
        self._threads = [threading.Thread(target=self._call, args=[n]) for n in range(CALLERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self.stopping.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, more: int) -> None:
        target, deadline = len(self.answered) + more, time.monotonic() + 40
        while len(self.answered) < target:
            assert time.monotonic() < deadline, f"No more than {len(self.answered)} responses"
            time.sleep(0.02)

    def send(self, caller: HttpCaller, headers: dict[str, str]) -> ClientResponse:
        return caller.validate("no address", **headers)

    def _call(self, caller_number: int) -> None:
        for request_number in range(1_000_000):
            if self.stopping.is_set():
                return
            self._repeat_until_answered(
                f"{caller_number}-{request_number}", sends_key=caller_number in self.with_key
            )

    def _repeat_until_answered(self, key: str, *, sends_key: bool) -> None:
        headers = {"Idempotency_Key": key} if sends_key else {}
        caller = HttpCaller(self.site, self.secret)
        while True:
            try:
                response = self.send(caller, headers)
            except (OSError, http.client.HTTPException):
                self.lost += 1
                caller = HttpCaller(self.site, self.secret)
            else:
                if response.status == 200:
                    self.answered[key] = response.document["id"]
                    self.costs.append(int(response.headers["X-Credits-Cost"]))
                    break
                self.refusals.append(response)
            time.sleep(0.05)
        caller.close()


class BatchLoad(Load):
    """Callers that send batches of wrong addresses."""

    def send(self, caller: HttpCaller, headers: dict[str, str]) -> ClientResponse:
        emails = [f"no address {number}" for number in range(BATCH_SIZE)]
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return caller.call("POST", "/v1/validate/batch", json.dumps({"emails": emails}), headers)


@contextmanager
def load_on(
    site: Product, email: str, *, without_key: int = 0, kind: type[Load] = Load
) -> Iterator[Load]:
    secret = make_key(site, email, 1_000_000, credits=BALANCE)
    load = kind(site, secret, without_key=without_key)
    load.start()
    try:
        yield load
    finally:
        load.stop()


def find_workers(site: Product) -> list[psutil.Process]:
    (gunicorn,) = [
        child
        for child in psutil.Process(site.process.pid).children()
        if "gunicorn" in " ".join(child.cmdline())
    ]
    return list(gunicorn.children())


def assert_nothing_lost(site: Product, load: Load) -> None:
    assert_books_agree(site, answered=set(load.answered.values()))
    # Each request got one result, and each idempotency key was charged for once.
    assert len(set(load.answered.values())) == len(load.answered)
    keyed = [key for key in load.answered if int(key.split("-")[0]) in load.with_key]
    replays = fetch_number(site, "SELECT COUNT(*) FROM validation_replay")
    used = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert replays == len(keyed)
    assert used >= len(load.answered)
    if len(load.with_key) == CALLERS:
        assert used == len(load.answered)
    assert fetch_rows(site, "SELECT balance FROM credits_wallet ORDER BY balance DESC LIMIT 1") == [
        (BALANCE - used,)
    ]
    assert sum(load.costs) <= used


def assert_retry_after(refusals: list[ClientResponse]) -> None:
    for response in refusals:
        assert response.status == 503, response.text
        error = response.document["error"]
        assert error["code"] == "service_unavailable"
        assert error["details"]["retry_after"] >= 1
        assert response.seconds < MAX_SECONDS


def kill_workers(site: Product, load: Load) -> None:
    for _ in range(KILLS):
        load.wait_for(60)
        os.kill(random.choice(find_workers(site)).pid, signal.SIGKILL)
    load.wait_for(60)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_workers_lose_no_credit(tmp_path: Path, database: str) -> None:
    with product_on(database, tmp_path) as site:
        with load_on(site, "killed@shop.example") as load:
            kill_workers(site, load)
        assert_nothing_lost(site, load)
    assert_retry_after(load.refusals)


def test_killed_postgresql_loses_no_credit(tmp_path: Path) -> None:
    with postgres_server() as server, product(tmp_path, DATABASE_URL=server.url) as site:
        with load_on(site, "power-cut@shop.example", without_key=CALLERS // 2) as load:
            for _ in range(3):
                load.wait_for(100)
                server.kill()
                time.sleep(1)
                server.restart()
            load.wait_for(100)
        assert_nothing_lost(site, load)
    assert load.refusals
    # No worker was killed, so each caller got a response.
    assert not load.lost
    assert_retry_after(load.refusals)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_workers_charge_no_batch_in_part_or_twice(tmp_path: Path, database: str) -> None:
    with product_on(database, tmp_path) as site:
        with load_on(site, "killed@shop.example", without_key=CALLERS // 2, kind=BatchLoad) as load:
            kill_workers(site, load)
        assert "agree" in manage(site, "check_books")
        rows = fetch_rows(
            site, "SELECT batch_id, SUM(cost) FROM validation_logentry GROUP BY batch_id"
        )
        used = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
        replays = fetch_number(site, "SELECT COUNT(*) FROM validation_replay")
    batches = {batch_id: cost for batch_id, cost in rows if batch_id and cost}
    assert set(batches.values()) == {BATCH_SIZE}
    assert used == BATCH_SIZE * len(batches)
    assert set(load.answered.values()) <= batches.keys()
    keyed = [key for key in load.answered if int(key.split("-")[0]) in load.with_key]
    assert replays == len(keyed)
    assert len({load.answered[key] for key in keyed}) == len(keyed)


PROCESSES, KILLS = 3, 8
CHARGES_BETWEEN_KILLS = 10


def start(site: Product, account_id: str) -> subprocess.Popen[str]:
    return start_process("tests.credits.wallet.holding_process", site, account_id)


def wait_for_charges(process: subprocess.Popen[str]) -> None:
    assert process.stdout
    for _ in range(random.randint(1, CHARGES_BETWEEN_KILLS)):
        assert process.stdout.readline() == "charged\n"


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def hold_and_kill(site: Product) -> None:
    make_account(site, "holder@shop.example", "--credits", "5000")
    ((account_id,),) = fetch_rows(
        site, "SELECT public_id FROM accounts_account ORDER BY id DESC LIMIT 1"
    )
    processes = [start(site, account_id) for _ in range(PROCESSES)]
    try:
        for number in range(KILLS):
            victim = number % PROCESSES
            wait_for_charges(processes[victim])
            kill(processes[victim])
            processes[victim] = start(site, account_id)
        wait_for_charges(processes[0])
    finally:
        for process in processes:
            kill(process)


def assert_no_held_credit_lost(site: Product) -> None:
    assert "agree" in manage(site, "check_books")
    charged = fetch_number(site, "SELECT SUM(charged) FROM credits_hold")
    assert charged == fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert charged > 0
    # Killed processes leave holds open, and their credits stay held.
    held = fetch_number(site, "SELECT SUM(held) FROM credits_wallet")
    assert held == fetch_number(site, "SELECT SUM(remaining) FROM credits_hold")


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_processes_lose_no_held_credit(tmp_path: Path, database: str) -> None:
    with product_on(database, tmp_path) as site:
        hold_and_kill(site)
        assert_no_held_credit_lost(site)
