"""Accounts and keys of a running product, created with management commands."""

import secrets
import sqlite3
import time
from itertools import count
from weakref import WeakKeyDictionary
from zlib import crc32

from tests.servers.commands import Commands
from tests.servers.product import Product

_commands: WeakKeyDictionary[Product, Commands] = WeakKeyDictionary()


def manage(site: Product, *arguments: str) -> str:
    """Run a management command with the environment of a product; return what it prints."""
    commands = _commands.get(site)
    if commands is None or commands.is_closed or commands.environment != site.environment:
        commands = _commands[site] = Commands(site.environment)
        site.callers.add(commands)
    process = commands.run(arguments)
    process.check_returncode()
    return process.stdout.strip()


def make_account(site: Product, email: str, *options: str) -> tuple[str, str]:
    """Create an account; return the owner's password and a key."""
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
    # Another account may have got an id with the same second.
    ids = (f"acc_{number:020}" for number in count(secrets.randbelow(10**18)))
    public_id = next(name for name in ids if crc32(name.encode()) % 60 == second)
    with sqlite3.connect(site.folder / "db.sqlite3", timeout=20) as database:
        database.execute(
            "UPDATE accounts_account SET public_id = ? WHERE id IN (SELECT account_id FROM "
            "accounts_membership m JOIN accounts_user u ON u.id = m.user_id WHERE u.email = ?)",
            (public_id, email),
        )
    database.close()
