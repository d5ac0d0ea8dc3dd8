"""Without its database the product responds 503 quickly, in the usual format, and recovers."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests.servers.client import HttpCaller, wait_until_ready
from tests.servers.keys import make_key, manage
from tests.servers.postgres import postgres, postgres_server, wait_for_canceled_statements
from tests.servers.product import product
from tests.servers.relay import relay
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault]

MAX_SECONDS = 2
# Pages that need no data, for visitors who aren't signed in.
WITHOUT_DATA = ["/docs/", "/docs/errors/", "/accounts/terms/", "/accounts/login/"]
# Cookies of returning visitors.
COOKIE = {"Cookie": "session=a4m2k0v9x1c8b7n6"}


def test_api_responds_503_without_its_database_and_recovers(tmp_path: Path) -> None:
    with postgres() as url:
        (folder,) = parse_qs(urlsplit(url).query)["host"]
        with relay(f"{folder}/.s.PGSQL.5432") as database_relay:
            database = f"postgres://postgres@127.0.0.1:{database_relay.port}/postgres"
            with product(tmp_path, DATABASE_URL=database) as site:
                caller = HttpCaller(site, make_key(site, "away@shop.example", 1000))
                assert caller.get().status == 200
                database_relay.drop()
                after_a_blip = [caller.get().status for _ in range(10)]
                database_relay.delay = 20.0
                during_freeze = [caller.get() for _ in range(3)]
                database_relay.delay = 0.0
                database_relay.drop()
                wait_until(lambda: caller.get().status == 200)
                after_freeze = caller.get()
                database_relay.cut()
                during_outage = [caller.get() for _ in range(6)]
                mistyped_key = HttpCaller(site, "svc_live_mistyped").get()
                database_relay.restore()
                wait_until(lambda: caller.get().status == 200)
                after_outage = caller.get()
    assert after_a_blip == [200] * 10
    assert after_freeze.status == 200
    assert {response.status for response in during_outage + during_freeze} == {503}
    for response in during_outage + during_freeze:
        error = response.document["error"]
        assert error["code"] == "service_unavailable"
        assert error["details"]["retry_after"] >= 1
        assert "Retry-After" not in response.headers
        assert response.headers["RateLimit"].startswith('"address";')
        assert response.seconds < MAX_SECONDS
    # A mistyped key is detected without the database.
    assert mistyped_key.status == 401
    assert after_outage.status == 200


def assert_database_outage(caller: HttpCaller) -> None:
    """Check that pages respond 503 within two seconds, except those that need no database."""
    first = caller.call("GET", "/accounts/profile/", headers=COOKIE)
    assert first.status == 503
    assert first.seconds < MAX_SECONDS
    assert [caller.get(path).status for path in WITHOUT_DATA] == [200] * len(WITHOUT_DATA)
    page, health, ready = (caller.get(path) for path in ("/", "/healthz", "/readyz"))
    assert page.status == 503
    assert page.headers["Retry-After"] == "5"
    assert "Temporarily unavailable" in page.text
    assert page.seconds < MAX_SECONDS
    assert (health.status, health.text) == (200, '{"status":"ok"}')
    assert health.seconds < MAX_SECONDS / 2
    assert (ready.status, ready.document["database"]) == (503, "unavailable")
    assert ready.headers["Retry-After"] == "5"
    assert ready.seconds < MAX_SECONDS


def assert_most_fail_fast(caller: HttpCaller) -> None:
    """Check that most requests fail immediately. If each one waited, 20 would take 30 s."""
    pages = [caller.call("GET", "/accounts/profile/", headers=COOKIE) for _ in range(20)]
    assert {page.status for page in pages} == {503}
    assert sum(page.seconds for page in pages) < 15


def test_pages_and_health_checks_report_a_missing_database(tmp_path: Path) -> None:
    with (
        postgres_server() as server,
        product(tmp_path, DATABASE_URL=server.url, WEB_WORKERS="1") as site,
    ):
        caller = HttpCaller(site, site.owner_key())
        wait_until_ready(caller)
        before = caller.get("/")
        with server.frozen():
            assert_database_outage(caller)
            assert_most_fail_fast(caller)
        wait_until_ready(caller)
        after_freeze = caller.get("/")
        server.kill()
        assert_database_outage(caller)
        assert_most_fail_fast(caller)
        server.restart()
        wait_until_ready(caller)
        after_restart = caller.get("/")
    assert [before.status, after_freeze.status, after_restart.status] == [200] * 3


def test_call_that_timed_out_on_a_lock_is_not_charged_later(tmp_path: Path) -> None:
    with postgres() as url, product(tmp_path, DATABASE_URL=url, WEB_WORKERS="1") as site:
        caller = HttpCaller(site, make_key(site, "migrated@shop.example", 1000))
        # Prepare the statements, so that the calls below block on execution.
        assert caller.validate("no address").status == 200
        with psycopg.connect(url) as database:
            # The lock that CREATE INDEX takes.
            database.execute("LOCK TABLE validation_logentry IN SHARE MODE")
            refused = [caller.validate("no address").status for _ in range(3)]
            wait_for_canceled_statements(url)
            database.commit()
            time.sleep(1)
            first = caller.validate("no address")
    assert refused == [503] * 3
    assert first.document["credits"] == {"charged": 1, "held": 0, "remaining": 98}


def test_locked_sqlite_refuses_writers_in_time_and_serves_readers(tmp_path: Path) -> None:
    with product(tmp_path, WEB_WORKERS="1") as site:
        secret = make_key(site, "locked@shop.example", 1000)
        writers = [HttpCaller(site, secret) for _ in range(4)]
        reader = HttpCaller(site, secret)
        unused_key = HttpCaller(
            site, manage(site, "create_key", "locked@shop.example", "--name", "2")
        )
        assert reader.get().status == 200
        lock = sqlite3.connect(tmp_path / "db.sqlite3", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(4) as threads:
            writes = [
                threads.submit(writer.validate, "no address", Idempotency_Key=f"key-{number}")
                for number, writer in enumerate(writers)
            ]
            reads = [reader.get() for _ in range(10)]
            refused = [future.result() for future in writes]
        first_use = unused_key.get()
        lock.execute("ROLLBACK")
        lock.close()
        retry = writers[0].validate("no address", Idempotency_Key="key-0")
    assert {response.status for response in reads} == {200}
    assert sum(response.seconds for response in reads) < MAX_SECONDS
    assert {response.status for response in refused} == {503}
    assert max(response.seconds for response in refused) < 2 * MAX_SECONDS
    assert retry.status == 200
    # Only the key's last use could not be recorded.
    assert first_use.status == 200
