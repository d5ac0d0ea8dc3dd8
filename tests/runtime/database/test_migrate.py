"""Migrations beside code that runs: nobody waits behind one, and two at once are one."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from runtime.management.commands.migrate import NUMBER
from tests.servers.books import assert_books_agree
from tests.servers.client import HttpAnswer, calls_coming
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.release import Release

pytestmark = [pytest.mark.process, pytest.mark.fault]

TABLE = "validation_logentry"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("migrated")
    with postgres() as url, product(folder, DATABASE_URL=url) as running:
        yield running


@pytest.fixture
def database(site: Product) -> Iterator["psycopg.Connection[Any]"]:
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        yield connection


def calls(site: Product) -> AbstractContextManager[list[HttpAnswer]]:
    email = f"loaded-{uuid4().hex}@shop.example"
    return calls_coming(site, make_key(site, email, 100_000, 100_000))


def test_no_call_fails_behind_a_migration_that_waits_for_its_table(
    site: Product, database: "psycopg.Connection[Any]", tmp_path: Path
) -> None:
    release = Release(tmp_path, f"ALTER TABLE {TABLE} ADD COLUMN later integer NULL")
    with calls(site) as answers:
        database.execute(f"LOCK TABLE {TABLE} IN ACCESS SHARE MODE")
        migrating = release.migrate(site)
        release.wait_until_it_says("A table is in use")
        database.commit()
        migrating.wait(timeout=60)
        before = len(answers)
        # The old code goes on with the new table.
        while len(answers) < before + 50:
            time.sleep(0.02)
    assert migrating.returncode == 0, release.said()
    assert "later" in columns(database)
    assert {answer.status for answer in answers} == {200}
    assert_books_agree(site, answered={answer.document["id"] for answer in answers})


def test_an_index_is_built_beside_calls_however_long_it_waits(
    site: Product, database: "psycopg.Connection[Any]", tmp_path: Path
) -> None:
    index = f"CREATE INDEX CONCURRENTLY log_by_cost ON {TABLE} (cost)"
    release = Release(tmp_path, index, name="indexed", atomic=False)
    with calls(site) as answers:
        database.execute(f"LOCK TABLE {TABLE} IN ROW EXCLUSIVE MODE")
        migrating = release.migrate(site)
        release.wait_until_it_says("Applying indexed")
        with pytest.raises(subprocess.TimeoutExpired):
            migrating.wait(timeout=3)
        database.commit()
        migrating.wait(timeout=60)
    assert migrating.returncode == 0, release.said()
    assert {answer.status for answer in answers} == {200}


def test_of_two_that_migrate_at_once_one_waits_for_the_other(
    site: Product, database: "psycopg.Connection[Any]", tmp_path: Path
) -> None:
    column = f"ALTER TABLE {TABLE} ADD COLUMN last integer NULL"
    release = Release(tmp_path, column, name="last")
    database.execute("SELECT pg_advisory_lock(%s)", [NUMBER])
    database.commit()
    migrating = release.migrate(site)
    release.wait_until_it_says("Another process migrates")
    assert "last" not in columns(database)
    database.execute("SELECT pg_advisory_unlock(%s)", [NUMBER])
    database.commit()
    migrating.wait(timeout=60)
    assert migrating.returncode == 0, release.said()
    assert "last" in columns(database)


def columns(database: "psycopg.Connection[Any]") -> set[str]:
    asked = "SELECT column_name FROM information_schema.columns WHERE table_name = %s"
    found = {str(row[0]) for row in database.execute(asked, [TABLE])}
    database.commit()
    return found
