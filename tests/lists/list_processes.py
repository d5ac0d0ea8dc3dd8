"""Start lists in a running product's database, and the processes that work on them."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import psycopg

from tests.servers.books import fetch_number, fetch_rows
from tests.servers.keys import manage
from tests.servers.product import ROOT, Product
from tests.support.waiting import wait_until

_START = """
from accounts.models import Account
from tests.lists.factory import make_started_list
account = Account.objects.order_by("-pk")[0]
emails = [f"customer{{number}}@shop{{number % {domains}}}.com" for number in range({addresses})]
print(make_started_list(
    account, emails, chunk_rows={chunk_rows}, block_domains={block_domains}).public_id)
"""

# At its own low priority, a process gets no CPU time on a busy machine.
_RUN_LISTS = """
import os
from django.core.management import execute_from_command_line
os.nice = os.sched_setscheduler = lambda *_: None
execute_from_command_line(["manage.py", "run_lists"])
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
            [sys.executable, "-c", _RUN_LISTS],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "DJANGO_SETTINGS_MODULE": "config.settings",
                **site.environment,
            },
            stdout=log,
            stderr=log,
        )


def state_of(site: Product, list_id: str) -> str:
    query = f"SELECT state FROM lists_addresslist WHERE public_id = '{list_id}'"  # noqa: S608
    return str(fetch_rows(site, query)[0][0])


def wait_for_progress(site: Product, list_id: str) -> None:
    """Wait until more addresses are checked. On a busy machine, a start takes a minute."""
    before = checked_addresses(site)
    wait_until(
        lambda: checked_addresses(site) > before or state_of(site, list_id) == "completed", 180
    )


def wait_until_completed(site: Product, list_id: str) -> None:
    """Wait as long as addresses are checked, which takes minutes on a busy machine."""
    while state_of(site, list_id) != "completed":
        wait_for_progress(site, list_id)


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
            f"UPDATE lists_{table} SET leased_until = '2026-01-01 00:00:00' "  # noqa: S608
            "WHERE leased_until IS NOT NULL",
        )


def checked_addresses(site: Product) -> int:
    return fetch_number(site, "SELECT checked FROM lists_addresslist")


def assert_charged_once(site: Product, count: int) -> None:
    assert "agree" in manage(site, "check_books")
    columns = "checked, deliverable, unknown, addresses"
    ((checked, deliverable, unknown, addresses),) = fetch_rows(
        site,
        f"SELECT {columns} FROM lists_addresslist",  # noqa: S608
    )
    assert (checked, deliverable, unknown, addresses) == (count, count, 0, count)
    assert fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") == count
    assert fetch_number(site, "SELECT SUM(calls) FROM credits_usehour") == count
    assert fetch_number(site, "SELECT SUM(charged) FROM credits_hold") == count
    assert fetch_number(site, "SELECT SUM(held) FROM credits_wallet") == 0
    assert fetch_number(site, "SELECT COUNT(*) FROM lists_listchunk WHERE NOT is_done") == 0
