"""The books of a running product, read directly from its database."""

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

from tests.servers.keys import manage
from tests.servers.product import Product


def fetch_rows(site: Product, statement: str) -> list[Any]:
    url = site.environment.get("DATABASE_URL")
    if url:
        with psycopg.connect(url) as database:
            return list(database.execute(statement))
    with closing(sqlite3.connect(site.folder / "db.sqlite3", timeout=20)) as database:
        return database.execute(statement).fetchall()


def fetch_number(site: Product, statement: str) -> int:
    return int(fetch_rows(site, statement)[0][0] or 0)


def assert_books_agree(site: Product, *, answered: set[str]) -> None:
    """Check that every charge is in the request log once, including all results that callers saw.

    `answered` holds the ids of those results.
    """
    assert "agree" in manage(site, "check_books")
    logged = fetch_rows(site, "SELECT result_id FROM validation_logentry WHERE cost = 1")
    charged = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert len(logged) == charged
    assert len({row[0] for row in logged}) == charged
    assert answered <= {row[0] for row in logged}
