"""Accounts and keys of a product that runs, made as an operator makes them."""

import os
import sqlite3
import subprocess
import sys
import time
from zlib import crc32

from tests.servers.product import ROOT, Product


def manage(site: Product, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **site.environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ended.stdout.strip()


def make_account(site: Product, email: str, *terms: str) -> tuple[str, str]:
    """The owner's password and a key. By one process: most of the time goes into its start."""
    commands = (
        "from django.core.management import call_command as run; "
        f"run('create_account', *{[email, *terms]}); run('create_key', {email!r}, name='Server')"
    )
    account, key = manage(site, "shell", "--no-imports", "-c", commands).splitlines()
    return account.split()[1], key


def make_key(
    site: Product, email: str, requests_per_minute: int | None = None, credits: int | None = None
) -> str:
    terms = ["--requests-per-minute", str(requests_per_minute)] if requests_per_minute else []
    terms += [] if credits is None else ["--credits", str(credits)]
    return make_account(site, email, *terms)[1]


def end_window_in(seconds: int, site: Product, email: str) -> None:
    """An account's windows end at a second of the minute that its id decides: gives it another."""
    end = (int(time.time()) + seconds) % 60
    names = (f"acc_{number:020}" for number in range(10_000))
    fitting = next(name for name in names if crc32(name.encode()) % 60 == end)
    with sqlite3.connect(site.folder / "db.sqlite3", timeout=20) as database:
        database.execute(
            "UPDATE accounts_account SET public_id = ? WHERE id IN (SELECT account_id FROM "
            "accounts_membership m JOIN accounts_user u ON u.id = m.user_id WHERE u.email = ?)",
            (fitting, email),
        )
    database.close()
