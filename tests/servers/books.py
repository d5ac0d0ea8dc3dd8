"""The books of a product that runs, read straight from its database."""

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

from tests.servers.keys import manage
from tests.servers.product import Product


def ask(site: Product, statement: str) -> list[Any]:
    url = site.environment.get("DATABASE_URL")
    if url:
        with psycopg.connect(url) as database:
            return list(database.execute(statement))
    with closing(sqlite3.connect(site.folder / "db.sqlite3", timeout=20)) as database:
        return database.execute(statement).fetchall()


def number(site: Product, statement: str) -> int:
    return int(ask(site, statement)[0][0] or 0)


def assert_books_agree(site: Product, *, answered: set[str]) -> None:
    """`answered`: the results that callers saw. Each was charged once and logged once; what was
    charged and not seen is in the log as well."""
    assert "agree" in manage(site, "check_books")
    logged = ask(site, "SELECT result_id FROM validation_logentry WHERE cost = 1")
    used = number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert len(logged) == used
    assert len({row[0] for row in logged}) == used
    assert answered <= {row[0] for row in logged}
