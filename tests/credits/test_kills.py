"""Killed in the middle of load, workers and database lose an answer, and never a credit."""

import http.client
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.servers.books import ask, assert_books_agree, number
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.proof]

BALANCE, CALLERS, KILLS = 1_000_000, 8, 6


class Load:
    """Callers who send each request with a key of its own, until they have seen its answer."""

    def __init__(self, site: Product, secret: str) -> None:
        self.site, self.secret = site, secret
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
        wanted, deadline = len(self.answered) + more, time.monotonic() + 40
        while len(self.answered) < wanted:
            assert time.monotonic() < deadline, f"{len(self.answered)} answers, no more come"
            time.sleep(0.02)

    def _call(self, caller_number: int) -> None:
        for request_number in range(1_000_000):
            if self.stopping.is_set():
                return
            self._until_answered(f"{caller_number}-{request_number}")

    def _until_answered(self, key: str) -> None:
        caller = HttpCaller(self.site, self.secret)
        while True:
            try:
                answer = caller.validate("no address", Idempotency_Key=key)
            except (OSError, http.client.HTTPException):
                self.lost += 1
                caller = HttpCaller(self.site, self.secret)
            else:
                if answer.status == 200:
                    self.answered[key] = answer.document["id"]
                    self.costs.append(int(answer.headers["X-Credits-Cost"]))
                    break
                assert answer.status in {500, 503}, answer.text
            time.sleep(0.05)
        caller.close()


@contextmanager
def load_on(site: Product, email: str) -> Iterator[Load]:
    load = Load(site, make_key(site, email, 1_000_000, credits=BALANCE))
    load.start()
    try:
        yield load
    finally:
        load.stop()


def workers_of(site: Product) -> list[psutil.Process]:
    (gunicorn,) = [
        child
        for child in psutil.Process(site.process.pid).children()
        if "gunicorn" in " ".join(child.cmdline())
    ]
    return list(gunicorn.children())


def assert_nothing_lost(site: Product, load: Load) -> None:
    assert_books_agree(site, answered=set(load.answered.values()))
    # Each request was answered with one result, and each key was charged for once.
    assert len(set(load.answered.values())) == len(load.answered)
    replays = number(site, "SELECT COUNT(*) FROM validation_replay")
    used = number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert replays == used == len(load.answered)
    assert ask(site, "SELECT balance FROM credits_wallet ORDER BY balance DESC LIMIT 1") == [
        (BALANCE - used,)
    ]
    assert sum(load.costs) <= used


def kill_workers(site: Product, load: Load) -> None:
    for _ in range(KILLS):
        load.wait_for(60)
        os.kill(random.choice(workers_of(site)).pid, signal.SIGKILL)
    load.wait_for(60)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_workers_lose_no_credit(tmp_path: Path, database: str) -> None:
    if database == "sqlite":
        with product(tmp_path) as site:
            with load_on(site, "killed@shop.example") as load:
                kill_workers(site, load)
            assert_nothing_lost(site, load)
        return
    with postgres_server() as server, product(tmp_path, DATABASE_URL=server.url) as site:
        with load_on(site, "killed@shop.example") as load:
            kill_workers(site, load)
        assert_nothing_lost(site, load)


def test_a_killed_postgresql_loses_no_credit(tmp_path: Path) -> None:
    with postgres_server() as server, product(tmp_path, DATABASE_URL=server.url) as site:
        with load_on(site, "power-cut@shop.example") as load:
            for _ in range(3):
                load.wait_for(100)
                server.kill()
                time.sleep(0.5)
                server.start_again()
            load.wait_for(100)
        assert_nothing_lost(site, load)
