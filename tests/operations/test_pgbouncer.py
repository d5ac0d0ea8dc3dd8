"""Web workers run through PgBouncer in transaction mode, with the settings of the handbook."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import psycopg
import pytest

from tests.lists.list_processes import state_of
from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpCaller, steady_calls, wait_until_ready
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_account, make_key, manage
from tests.servers.pgbouncer import pgbouncer
from tests.servers.postgres import wait_for_canceled_statements
from tests.servers.postgres_machine import PostgresMachine, database_url, postgres_machines
from tests.servers.product import Product, product
from tests.servers.programs import run_program
from tests.servers.release import Release
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault]

# Fewer than the connections that web workers open, so that most transactions change the session.
SESSIONS = 3
ADDRESSES, CREDITS = 40, 100_000
COLUMN = "ALTER TABLE validation_logentry ADD COLUMN later integer NULL"
CONNECT_QUERY = "connect_query='SET client_connection_check_interval = 500'"


@pytest.fixture(scope="module")
def postgres_machine() -> Iterator[PostgresMachine]:
    with postgres_machines("127.0.0.13") as (machine,):
        yield machine


@pytest.fixture(scope="module")
def site(
    postgres_machine: PostgresMachine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    url = database_url(postgres_machine)
    names = FakeDns()
    names.add_mail_domain("shop1.com")
    with (
        dns_server(names) as resolver,
        pgbouncer(url, default_pool_size=str(SESSIONS)) as pgbouncer_url,
        product(
            tmp_path_factory.mktemp("pooled"),
            DATABASE_URL=url,
            PGBOUNCER_URL=pgbouncer_url,
            DNS_RESOLVERS=resolver,
            LIST_PROCESSES="1",
        ) as running,
    ):
        yield running


def run_command(site: Product, *arguments: str, **changed: str) -> CompletedProcess[str]:
    return run_program("manage.py", *arguments, **{**site.environment, **changed})


def assert_charged_once(site: Product, caller: HttpCaller, answered: set[str]) -> None:
    """Check that an account that began with CREDITS paid for these results, each once."""
    document = caller.get("/v1/credits").document
    assert document["balance"] == CREDITS - len(answered)
    assert "agree" in manage(site, "check_books")


def test_concurrent_calls_and_batches_are_charged_once(site: Product) -> None:
    caller = HttpCaller(site, make_key(site, "parallel@shop.example", 100_000, CREDITS))
    batch = json.dumps({"emails": [f"no address {number}" for number in range(20)]})

    def call(number: int) -> set[str]:
        if number % 10:
            key = {"Idempotency_Key": f"key-{number // 2}"} if number % 3 else {}
            response = caller.validate(f"no address {number // 2}", **key)
            assert response.status == 200, response.text
            return {response.document["id"]}
        response = caller.call("POST", "/v1/validate/batch", batch)
        assert response.status == 200, response.text
        return {result["id"] for result in response.document["results"]}

    with ThreadPoolExecutor(24) as threads:
        answered = set().union(*threads.map(call, range(400)))
    assert_charged_once(site, caller, answered)


def test_list_uploaded_through_the_api_is_checked(site: Product) -> None:
    caller = HttpCaller(site, make_key(site, "lists@shop.example", 1000, 1000))
    document = {"emails": [f"customer{n}@shop1.com" for n in range(ADDRESSES)], "start": True}
    uploaded = caller.call("POST", "/v1/lists", json.dumps(document))
    assert uploaded.status == 201, uploaded.text
    list_id = uploaded.document["id"]
    wait_until(lambda: state_of(site, list_id) == "completed")
    results = caller.get(f"/v1/lists/{list_id}/download")
    assert results.status == 200
    assert len(results.text.splitlines()) == ADDRESSES + 1
    assert "agree" in manage(site, "check_books")


def test_dashboard_pages_and_the_export_are_served(site: Product) -> None:
    password, _ = make_account(site, "pages@shop.example")
    browser = PlainBrowser(site.url)
    browser.send("/accounts/login/", login="pages@shop.example", password=password)
    for path in ("/", "/validation/requests/", "/credits/ledger/", "/apikeys/", "/accounts/team/"):
        assert "<h1" in browser.get(path), path
    assert '"audit_log"' in browser.send("/accounts/account/export/")


def test_migration_refuses_no_call(site: Product, tmp_path: Path) -> None:
    release = Release(tmp_path, COLUMN)
    secret = make_key(site, "migrated@shop.example", 100_000, CREDITS)
    with steady_calls(site, secret) as responses:
        migrating = release.migrate(site)
        assert migrating.wait(timeout=60) == 0, release.output()
        before = len(responses)
        wait_until(lambda: len(responses) > before + 50)
    assert {response.status for response in responses} == {200}
    answered = {response.document["id"] for response in responses}
    assert_charged_once(site, HttpCaller(site, secret), answered)


@pytest.mark.parametrize("ignored", ["", "ignore_startup_parameters = options"])
@pytest.mark.parametrize("command", ["migrate", "back_up"])
def test_command_that_needs_a_session_refuses_pgbouncer(
    site: Product, ignored: str, command: str, tmp_path: Path
) -> None:
    arguments = [command, str(tmp_path)] if command == "back_up" else [command]
    with pgbouncer(site.environment["DATABASE_URL"], extra=ignored) as url:
        process = run_command(site, *arguments, DATABASE_URL=url, PGBOUNCER_URL="")
    assert process.returncode == 1
    assert "Set DATABASE_URL to PostgreSQL itself" in process.stderr
    assert "Traceback" not in process.stderr


def test_call_that_timed_out_on_a_lock_is_not_charged_later(site: Product) -> None:
    caller = HttpCaller(site, make_key(site, "locked@shop.example", 1000))
    assert caller.validate("no address").status == 200
    with psycopg.connect(site.environment["DATABASE_URL"]) as database:
        database.execute("LOCK TABLE validation_logentry IN SHARE MODE")
        # Each leaves one of PgBouncer's sessions waiting, until PostgreSQL notices.
        refused = [caller.validate("no address").status for _ in range(3)]
        wait_for_canceled_statements(site.environment["DATABASE_URL"])
        database.commit()
        time.sleep(1)
        first = caller.validate("no address")
    assert refused == [503] * 3
    assert first.document["credits"] == {"charged": 1, "held": 0, "remaining": 98}


def test_product_recovers_when_postgresql_is_back(
    site: Product, postgres_machine: PostgresMachine
) -> None:
    caller = HttpCaller(site, make_key(site, "outage@shop.example", 1000))
    assert caller.validate("no address").status == 200
    postgres_machine.kill()
    during = [caller.validate("no address").status for _ in range(3)]
    postgres_machine.start()
    wait_until_ready(caller)
    wait_until(lambda: caller.validate("no address").status == 200)
    assert during == [503] * 3
    assert "agree" in manage(site, "check_books")


def test_check_accepts_the_handbooks_settings(site: Product) -> None:
    process = run_command(site, "check", "--database", "default")
    assert (process.returncode, "no issues" in process.stdout) == (0, True), process.stderr


@pytest.mark.parametrize(
    ("connect_query", "database", "message"),
    [
        ("", "validation", "without client_connection_check_interval"),
        (CONNECT_QUERY, "postgres", "lead to two databases"),
    ],
)
def test_check_names_wrong_settings_of_pgbouncer(
    site: Product, connect_query: str, database: str, message: str
) -> None:
    line = f"host={{}} port={{}} dbname={database} {connect_query}"
    with pgbouncer(site.environment["DATABASE_URL"], line) as url:
        process = run_command(site, "check", "--database", "default", PGBOUNCER_URL=url)
    assert message in process.stderr


def test_check_says_that_pgbouncer_is_down(site: Product) -> None:
    url = "postgres://validation@127.0.0.1:9/validation"
    process = run_command(site, "check", "--database", "default", PGBOUNCER_URL=url)
    assert process.returncode == 0
    assert "PGBOUNCER_URL can't be reached" in process.stderr
