"""Kill list processes again and again: every address is charged once, and the books agree."""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from tests.servers.books import fetch_number, fetch_rows
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_account, manage
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product
from tests.validation.lists.list_processes import (
    start_list,
    start_process,
    state_of,
    wait_until,
)

pytestmark = [pytest.mark.process, pytest.mark.fault]

PROCESSES, KILLS, ADDRESSES = 3, 12, 3_000


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Product]:
    names = FakeDns(delay=0.005)
    for number in range(50):
        names.add_mail_domain(f"shop{number}.com")
    with ExitStack() as stack:
        options = {"DNS_RESOLVERS": stack.enter_context(dns_server(names))}
        if request.param == "postgresql":
            options["DATABASE_URL"] = stack.enter_context(postgres_server()).url
        running = stack.enter_context(product(tmp_path, **options))
        make_account(running, "lists@shop.example", "--credits", "5000")
        yield running


def change(site: Product, statement: str) -> None:
    url = site.environment.get("DATABASE_URL")
    if url:
        with psycopg.connect(url) as database:
            database.execute(statement)
        return
    with closing(sqlite3.connect(site.folder / "db.sqlite3", timeout=20)) as database, database:
        database.execute(statement)


def end_leases(site: Product) -> None:
    """Let time pass for the leases of killed processes. Living holders may lose theirs too."""
    for table in ("listchunk", "domainblock"):
        change(
            site,
            f"UPDATE validation_{table} SET leased_until = '2026-01-01 00:00:00' "  # noqa: S608
            "WHERE leased_until IS NOT NULL",
        )


def checked_addresses(site: Product) -> int:
    return fetch_number(site, "SELECT checked FROM validation_addresslist")


def test_killed_processes_charge_each_address_once(site: Product) -> None:
    list_id = start_list(site, ADDRESSES, chunk_rows=5)
    processes = [start_process(site) for _ in range(PROCESSES)]
    try:
        for number in range(KILLS):
            # Most of a process's life is its start, so wait until one has stored results.
            before = checked_addresses(site)
            wait_until(lambda before=before: checked_addresses(site) > before)  # type: ignore[misc]
            time.sleep(random.uniform(0, 0.2))
            victim = number % PROCESSES
            processes[victim].kill()
            processes[victim].wait()
            end_leases(site)
            processes[victim] = start_process(site)
        assert state_of(site, list_id) == "running"
        wait_until(lambda: state_of(site, list_id) == "completed")
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert_charged_once(site)


def assert_charged_once(site: Product) -> None:
    assert "agree" in manage(site, "check_books")
    columns = "checked, deliverable, unknown, addresses"
    ((checked, deliverable, unknown, addresses),) = fetch_rows(
        site,
        f"SELECT {columns} FROM validation_addresslist",  # noqa: S608
    )
    assert (checked, deliverable, unknown, addresses) == (ADDRESSES, ADDRESSES, 0, ADDRESSES)
    assert fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") == ADDRESSES
    assert fetch_number(site, "SELECT SUM(calls) FROM credits_usehour") == ADDRESSES
    assert fetch_number(site, "SELECT SUM(charged) FROM credits_hold") == ADDRESSES
    assert fetch_number(site, "SELECT SUM(held) FROM credits_wallet") == 0
    assert fetch_number(site, "SELECT COUNT(*) FROM validation_listchunk WHERE NOT is_done") == 0
