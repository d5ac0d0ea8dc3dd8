"""Accounts and keys of a running product, created with management commands."""

import os
import sqlite3
import subprocess
import sys
import time
from zlib import crc32

from tests.servers.product import ROOT, Product


def manage(site: Product, *arguments: str) -> str:
    process = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **site.environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return process.stdout.strip()


def make_account(site: Product, email: str, *options: str) -> tuple[str, str]:
    """Create an account; return the owner's password and a key.

    One process runs both commands, because most of the time is spent on startup.
    """
    commands = (
        "from django.core.management import call_command as run; "
        f"run('create_account', *{[email, *options]}); run('create_key', {email!r}, name='Server')"
    )
    account, key = manage(site, "shell", "--no-imports", "-c", commands).splitlines()
    return account.split()[1], key


def make_key(
    site: Product, email: str, requests_per_minute: int | None = None, credits: int | None = None
) -> str:
    options = ["--requests-per-minute", str(requests_per_minute)] if requests_per_minute else []
    options += [] if credits is None else ["--credits", str(credits)]
    return make_account(site, email, *options)[1]


def make_window_end_in(seconds: int, site: Product, email: str) -> None:
    """Give the account an id whose rate-limit window ends in that many seconds.

    The second of the minute in which an account's windows end depends on its id.
    """
    second = (int(time.time()) + seconds) % 60
    ids = (f"acc_{number:020}" for number in range(10_000))
    public_id = next(name for name in ids if crc32(name.encode()) % 60 == second)
    with sqlite3.connect(site.folder / "db.sqlite3", timeout=20) as database:
        database.execute(
            "UPDATE accounts_account SET public_id = ? WHERE id IN (SELECT account_id FROM "
            "accounts_membership m JOIN accounts_user u ON u.id = m.user_id WHERE u.email = ?)",
            (public_id, email),
        )
    database.close()
