"""A worker that has just started gives /readyz the same answer as one that has run for hours."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from tests.servers.client import HttpAnswer, HttpCaller, until_ready
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.relay import Relay, relay

pytestmark = [pytest.mark.process, pytest.mark.proof]

# One answer of the database then takes 0.4 s. The first check of a worker needs several, and so
# takes longer than a caller of /readyz waits, as it does on a busy machine.
SLOW = 0.2


@contextmanager
def product_behind_a_relay(folder: Path) -> Iterator[tuple[Product, Relay]]:
    with postgres() as url:
        (socket_folder,) = parse_qs(urlsplit(url).query)["host"]
        with relay(f"{socket_folder}/.s.PGSQL.5432") as between:
            database = f"postgres://postgres@127.0.0.1:{between.port}/postgres"
            with product(folder, DATABASE_URL=database, WEB_WORKERS="1") as site:
                yield site, between


def web_workers(site: Product) -> set[int]:
    ours = psutil.Process(site.process.pid).children(recursive=True)
    gunicorn = {one.pid for one in ours if one.ppid() == site.process.pid}
    return {one.pid for one in ours if one.ppid() in gunicorn}


def ask(site: Product) -> HttpAnswer:
    """On a connection of its own: old and new workers both get some."""
    caller = HttpCaller(site, None)
    try:
        return caller.get("/readyz")
    finally:
        caller.close()


def reload_and_ask(site: Product) -> list[HttpAnswer]:
    """Asks /readyz until the old worker is gone, and once more."""
    old = web_workers(site)
    os.kill(site.process.pid, signal.SIGHUP)
    deadline, answers = time.monotonic() + 60, [ask(site)]
    while old & web_workers(site) or not web_workers(site):
        assert time.monotonic() < deadline
        answers.append(ask(site))
        time.sleep(0.05)
    return [*answers, ask(site)]


def test_every_answer_during_a_reload_with_a_slow_database_is_ready(tmp_path: Path) -> None:
    with product_behind_a_relay(tmp_path) as (site, between):
        until_ready(HttpCaller(site, None))
        between.delay = SLOW
        answers = reload_and_ask(site)
        between.delay = 0.0
    assert {(answer.status, answer.document["database"]) for answer in answers} == {(200, "ok")}


def test_a_worker_starts_without_its_database_and_says_so(tmp_path: Path) -> None:
    with product_behind_a_relay(tmp_path) as (site, between):
        between.cut()
        away = reload_and_ask(site)[-1]
        between.mend()
        until_ready(HttpCaller(site, None))
    assert (away.status, away.document["database"]) == (503, "unavailable")
    assert away.seconds < 2
