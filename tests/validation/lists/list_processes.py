"""Start lists in a running product's database, and the processes that work on them."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing

import psycopg

from tests.servers.books import fetch_number, fetch_rows
from tests.servers.keys import manage
from tests.servers.product import ROOT, Product

_START = """
from accounts.models import Account
from tests.validation.lists.factory import make_started_list
account = Account.objects.order_by("-pk")[0]
emails = [f"customer{{number}}@shop{{number % {domains}}}.com" for number in range({addresses})]
print(make_started_list(
    account, emails, chunk_rows={chunk_rows}, block_domains={block_domains}).public_id)
"""


def start_list(
    site: Product,
    addresses: int,
    *,
    domains: int = 50,
    chunk_rows: int = 50,
    block_domains: int = 10,
) -> str:
    """Start a list of the newest account, and return its id."""
    script = _START.format(
        addresses=addresses, domains=domains, chunk_rows=chunk_rows, block_domains=block_domains
    )
    return manage(site, "shell", "--no-imports", "-c", script)


def start_process(site: Product) -> "subprocess.Popen[bytes]":
    with site.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "manage.py", "run_lists"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **site.environment},
            stdout=log,
            stderr=log,
        )


def state_of(site: Product, list_id: str) -> str:
    query = f"SELECT state FROM validation_addresslist WHERE public_id = '{list_id}'"  # noqa: S608
    return str(fetch_rows(site, query)[0][0])


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def change(site: Product, statement: str) -> None:
    url = site.environment.get("DATABASE_URL")
    if url:
        with psycopg.connect(url) as postgres:
            postgres.execute(statement)
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


def assert_charged_once(site: Product, count: int) -> None:
    assert "agree" in manage(site, "check_books")
    columns = "checked, deliverable, unknown, addresses"
    ((checked, deliverable, unknown, addresses),) = fetch_rows(
        site,
        f"SELECT {columns} FROM validation_addresslist",  # noqa: S608
    )
    assert (checked, deliverable, unknown, addresses) == (count, count, 0, count)
    assert fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") == count
    assert fetch_number(site, "SELECT SUM(calls) FROM credits_usehour") == count
    assert fetch_number(site, "SELECT SUM(charged) FROM credits_hold") == count
    assert fetch_number(site, "SELECT SUM(held) FROM credits_wallet") == 0
    assert fetch_number(site, "SELECT COUNT(*) FROM validation_listchunk WHERE NOT is_done") == 0
