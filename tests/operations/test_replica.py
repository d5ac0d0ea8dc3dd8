"""REPLICA_URL: log pages and exports are read from a replica while it keeps up with the primary.

The replica is set up by the handbook's commands: docs/operations/three-machines.md.
"""

import time
from collections.abc import Iterator

import pytest

from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpCaller
from tests.servers.keys import make_account, manage
from tests.servers.postgres_machine import PostgresMachine, database_url, postgres_machines
from tests.servers.product import Product
from tests.servers.programs import run_program
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(600)]

EMAIL = "logs@shop.example"
REQUESTS = "/validation/requests/"
AUDIT_LOG = "/accounts/audit/"
# What each page reads from the replica.
TABLES = {
    REQUESTS: "validation_logentry",
    "/validation/usage/": "credits_usehour",
    "/validation/usage/csv/": "credits_usehour",
    AUDIT_LOG: "accounts_auditentry",
}
# Of the helper's URL. The settings choose the standby.
WRITABLE = "&target_session_attrs=read-write"
LOG_STATEMENTS = """
psql -c "ALTER SYSTEM SET log_statement = 'all'" -c "SELECT pg_reload_conf()"
"""
WRITE = """
from accounts.models import Account
Account.objects.using("replica").update(name="Written")
"""


class Service:
    def __init__(self, primary: PostgresMachine, standby: PostgresMachine) -> None:
        self.primary, self.standby = primary, standby
        primary.run("replication-role")
        for machine in (primary, standby):
            machine.run("replication-access", NETWORK="127.0.0.0/8")
        standby.run("replication-standby", PRIMARY=f"{primary.address} port={primary.port}")
        standby.execute(LOG_STATEMENTS)

    def statements(self) -> str:
        """Return the log of what the replica was asked."""
        return (self.standby.data.parent / "server.log").read_text()


class Visitor:
    """A member of an account who opens pages, while a server calls with a key of the account."""

    def __init__(self, site: Product, service: Service) -> None:
        options = ("--credits", "5000", "--requests-per-minute", "100000")
        password, secret = make_account(site, EMAIL, *options)
        self.service, self.caller = service, HttpCaller(site, secret)
        self.browser = PlainBrowser(site.url)
        self.browser.send("/accounts/login/", login=EMAIL, password=password)

    def call(self, domain: str = "invented.example") -> None:
        # The server closes a connection that waits for a page to change.
        self.caller.close()
        response = self.caller.validate(f"jane@{domain}")
        assert response.status == 200, response.text

    def reads_replica(self, path: str) -> bool:
        """Open a page just after a call, and return whether the replica was asked for its rows."""
        self.call()
        before = len(self.service.statements())
        assert "</html>" in self.browser.get(path) or "csv" in path
        return f'FROM "{TABLES[path]}"' in self.service.statements()[before:]

    def finds(self, domain: str) -> bool:
        return domain in self.browser.get(REQUESTS)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with postgres_machines("127.0.0.13", "127.0.0.12") as (primary, standby):
        yield Service(primary, standby)


@pytest.fixture(scope="module")
def site(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    running = Product(
        tmp_path_factory.mktemp("replica"),
        errors=None,
        DATABASE_URL=database_url(service.primary, service.standby),
        REPLICA_URL=database_url(service.standby, service.primary).replace(WRITABLE, ""),
        WEB_WORKERS="1",
    )
    try:
        # It creates the tables, each on both servers.
        running.wait_until_ready(250)
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def visitor(site: Product, service: Service) -> Visitor:
    return Visitor(site, service)


@pytest.mark.parametrize("path", TABLES)
def test_log_page_is_read_from_the_replica(visitor: Visitor, path: str) -> None:
    wait_until(lambda: visitor.reads_replica(path))


def test_what_decides_or_was_just_written_is_read_from_the_primary(
    visitor: Visitor, service: Service
) -> None:
    wait_until(lambda: visitor.reads_replica(REQUESTS))
    statements = service.statements()
    for table in ("credits_wallet", "accounts_user", "django_session", "accounts_membership"):
        assert f'FROM "{table}"' not in statements


def test_export_reads_the_replica_and_is_recorded_on_the_primary(visitor: Visitor) -> None:
    wait_until(lambda: visitor.reads_replica(REQUESTS))
    visitor.call("exported.example")
    before = len(visitor.service.statements())
    wait_until(lambda: visitor.finds("exported.example"))
    page = visitor.browser.send(f"{REQUESTS}csv/", REQUESTS)
    assert "exported.example" in page
    assert 'FROM "validation_logentry"' in visitor.service.statements()[before:]
    wait_until(lambda: "Exported" in visitor.browser.get(AUDIT_LOG))


def test_replica_that_lags_is_not_read(visitor: Visitor, service: Service) -> None:
    wait_until(lambda: visitor.reads_replica(REQUESTS))
    service.standby.fetch_value("SELECT pg_wal_replay_pause()")
    visitor.call("late.example")
    wait_until(lambda: visitor.finds("late.example"))
    service.standby.fetch_value("SELECT pg_wal_replay_resume()")
    wait_until(lambda: visitor.reads_replica(REQUESTS))


@pytest.mark.parametrize("failure", ["kill", "freeze"])
def test_pages_are_read_from_the_primary_while_the_replica_is_away(
    visitor: Visitor, service: Service, failure: str
) -> None:
    wait_until(lambda: visitor.reads_replica(REQUESTS))
    getattr(service.standby, failure)()
    seconds = []
    try:
        for number in range(20):
            visitor.call(f"{failure}{number}.example")
            started = time.monotonic()
            assert visitor.finds(f"{failure}{number}.example")
            seconds.append(time.monotonic() - started)
    finally:
        # The other tests need it, too.
        service.standby.stop()
        service.standby.start()
    print(f"{failure}: the first page took {seconds[0]:.1f} s, the slowest {max(seconds):.1f} s")
    wait_until(lambda: visitor.reads_replica(REQUESTS), 120)


def test_check_accepts_the_replica(site: Product) -> None:
    checked = run_program("manage.py", "check", "--database", "default", **site.environment)
    assert (checked.returncode, "no issues" in checked.stdout) == (0, True), checked.stderr


def test_check_counts_the_connections_of_workers_for_pages_to_the_replica(site: Product) -> None:
    environment = {**site.environment, "PAGE_WORKERS": "100", "WEB_THREADS": "16"}
    checked = run_program("manage.py", "check", "--deploy", **environment)
    assert "may open 1,600 connections" in checked.stderr


@pytest.mark.parametrize(
    ("ending", "message"),
    [("/postgres", "lead to two databases"), (":9/validation", "REPLICA_URL can't be reached")],
)
def test_check_names_another_database_and_a_replica_that_is_down(
    site: Product, service: Service, ending: str, message: str
) -> None:
    url = database_url(service.standby).rpartition(":" if ":9" in ending else "/")[0] + ending
    environment = {**site.environment, "REPLICA_URL": url}
    checked = run_program("manage.py", "check", "--database", "default", **environment)
    assert message in checked.stderr


def test_product_goes_on_with_a_promoted_replica_and_reads_all_pages_as_from_a_primary(
    visitor: Visitor, service: Service, site: Product
) -> None:
    visitor.call()
    service.primary.kill()
    assert visitor.caller.validate("jane@invented.example").status == 503
    service.standby.run("replication-promote")
    wait_until(lambda: visitor.caller.validate("jane@invented.example").status == 200)
    visitor.call("promoted.example")
    assert visitor.finds("promoted.example")
    assert "agree" in manage(site, "check_books")
    environment = {**site.environment, "REPLICA_URL": database_url(service.standby)}
    written = run_program("manage.py", "shell", "-c", WRITE, **environment)
    assert "in a read-only transaction" in written.stderr
