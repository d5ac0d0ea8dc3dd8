"""The database is away for a while: 503 in the one shape, nobody waits long, and it comes back."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests.servers.client import HttpCaller, until_ready
from tests.servers.keys import make_key, manage
from tests.servers.postgres import postgres, postgres_server
from tests.servers.product import product
from tests.servers.relay import relay

pytestmark = [pytest.mark.process, pytest.mark.proof]

LONGEST_SECONDS = 2
# Pages that say the same to every stranger.
WITHOUT_DATA = ["/docs/", "/docs/errors/", "/accounts/terms/", "/accounts/login/"]
# Their visitors came before.
COOKIE = {"Cookie": "session=a4m2k0v9x1c8b7n6"}


def test_without_its_database_the_api_answers_503_and_recovers_by_itself(tmp_path: Path) -> None:
    with postgres() as url:
        (folder,) = parse_qs(urlsplit(url).query)["host"]
        with relay(f"{folder}/.s.PGSQL.5432") as between:
            database = f"postgres://postgres@127.0.0.1:{between.port}/postgres"
            with product(tmp_path, DATABASE_URL=database) as site:
                caller = HttpCaller(site, make_key(site, "away@shop.example", 1000))
                assert caller.get().status == 200
                between.drop()
                after_a_blip = [caller.get().status for _ in range(10)]
                between.delay = 20.0
                frozen = [caller.get() for _ in range(3)]
                between.delay = 0.0
                between.drop()
                deadline = time.monotonic() + 15
                while caller.get().status != 200 and time.monotonic() < deadline:
                    time.sleep(0.2)
                thawed = caller.get()
                between.cut()
                away = [caller.get() for _ in range(6)]
                stranger = HttpCaller(site, "svc_live_mistyped").get()
                between.mend()
                deadline = time.monotonic() + 15
                while caller.get().status != 200 and time.monotonic() < deadline:
                    time.sleep(0.2)
                back = caller.get()
                caller.close()
    assert after_a_blip == [200] * 10
    assert thawed.status == 200
    assert {answer.status for answer in away + frozen} == {503}
    for answer in away + frozen:
        error = answer.document["error"]
        assert error["code"] == "service_unavailable"
        assert error["details"]["retry_after"] >= 1
        assert "Retry-After" not in answer.headers
        assert answer.headers["RateLimit"].startswith('"address";r=60')
        assert answer.seconds < LONGEST_SECONDS
    # A mistyped key is recognised without the database.
    assert stranger.status == 401
    assert back.status == 200


def assert_away(caller: HttpCaller) -> None:
    """Every page says so within two seconds; those that need no database do not notice."""
    first = caller.call("GET", "/accounts/profile/", headers=COOKIE)
    assert first.status == 503
    assert first.seconds < LONGEST_SECONDS
    assert [caller.get(path).status for path in WITHOUT_DATA] == [200] * len(WITHOUT_DATA)
    page, health, ready = (caller.get(path) for path in ("/", "/healthz", "/readyz"))
    assert page.status == 503
    assert page.headers["Retry-After"] == "5"
    assert "We cannot answer at the moment" in page.text
    assert page.seconds < LONGEST_SECONDS
    assert (health.status, health.text) == (200, '{"status":"ok"}')
    assert health.seconds < LONGEST_SECONDS / 2
    assert (ready.status, ready.document["database"]) == (503, "unavailable")
    assert ready.headers["Retry-After"] == "5"
    assert ready.seconds < LONGEST_SECONDS


def assert_few_wait(caller: HttpCaller) -> None:
    """Once it is known, most visitors learn it at once. If each waited, 20 would take 30 s."""
    pages = [caller.call("GET", "/accounts/profile/", headers=COOKIE) for _ in range(20)]
    assert {page.status for page in pages} == {503}
    assert sum(page.seconds for page in pages) < 15


@pytest.mark.fault
def test_pages_and_load_balancers_are_told_that_the_database_is_away(tmp_path: Path) -> None:
    with (
        postgres_server() as server,
        product(tmp_path, DATABASE_URL=server.url, WEB_WORKERS="1") as site,
    ):
        caller = HttpCaller(site, site.owner_key())
        until_ready(caller)
        before = caller.get("/")
        with server.frozen():
            assert_away(caller)
            assert_few_wait(caller)
        until_ready(caller)
        thawed = caller.get("/")
        server.kill()
        assert_away(caller)
        assert_few_wait(caller)
        server.start_again()
        until_ready(caller)
        again = caller.get("/")
        caller.close()
    assert [before.status, thawed.status, again.status] == [200] * 3


def test_a_call_that_gave_up_behind_a_lock_is_not_charged_afterwards(tmp_path: Path) -> None:
    with postgres() as url, product(tmp_path, DATABASE_URL=url, WEB_WORKERS="1") as site:
        caller = HttpCaller(site, make_key(site, "migrated@shop.example", 1000))
        # What is prepared waits where it is executed.
        assert caller.validate("no address").status == 200
        with psycopg.connect(url) as database:
            # As while an index is built.
            database.execute("LOCK TABLE validation_logentry IN SHARE MODE")
            refused = [caller.validate("no address").status for _ in range(3)]
            time.sleep(1)
            database.commit()
            time.sleep(1)
            first = caller.validate("no address")
        caller.close()
    assert refused == [503] * 3
    assert first.document["credits"] == {"charged": 1, "remaining": 98}


def test_a_locked_sqlite_refuses_writers_in_time_and_holds_up_nobody_else(tmp_path: Path) -> None:
    with product(tmp_path, WEB_WORKERS="1") as site:
        secret = make_key(site, "locked@shop.example", 1000)
        writers = [HttpCaller(site, secret) for _ in range(4)]
        reader = HttpCaller(site, secret)
        unnoted = HttpCaller(site, manage(site, "create_key", "locked@shop.example", "--name", "2"))
        assert reader.get().status == 200
        lock = sqlite3.connect(tmp_path / "db.sqlite3", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(4) as threads:
            waiting = [
                threads.submit(writer.validate, "no address", Idempotency_Key=f"key-{number}")
                for number, writer in enumerate(writers)
            ]
            read = [reader.get() for _ in range(10)]
            refused = [future.result() for future in waiting]
        first_use = unnoted.get()
        lock.execute("ROLLBACK")
        lock.close()
        again = writers[0].validate("no address", Idempotency_Key="key-0")
        for caller in (*writers, reader, unnoted):
            caller.close()
    assert {answer.status for answer in read} == {200}
    assert sum(answer.seconds for answer in read) < LONGEST_SECONDS
    assert {answer.status for answer in refused} == {503}
    assert max(answer.seconds for answer in refused) < 2 * LONGEST_SECONDS
    assert again.status == 200
    # Only the note of the key's use could not be written.
    assert first_use.status == 200
