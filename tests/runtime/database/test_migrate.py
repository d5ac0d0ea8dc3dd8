"""Migrations run while the service handles requests, and one at a time."""

import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from runtime.management.commands.migrate import LOCK_ID
from tests.servers.books import assert_books_agree
from tests.servers.client import ClientResponse, steady_calls, wait_for_more
from tests.servers.keys import make_key, manage
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


def calls(site: Product) -> AbstractContextManager[list[ClientResponse]]:
    email = f"loaded-{uuid4().hex}@shop.example"
    return steady_calls(site, make_key(site, email, 100_000, 100_000))


def test_no_request_fails_while_a_migration_waits_for_its_table_lock(
    site: Product, database: "psycopg.Connection[Any]", tmp_path: Path
) -> None:
    release = Release(tmp_path, f"ALTER TABLE {TABLE} ADD COLUMN later integer NULL")
    with calls(site) as responses:
        database.execute(f"LOCK TABLE {TABLE} IN ACCESS SHARE MODE")
        migrating = release.migrate(site)
        release.wait_for_output("A table is in use")
        database.commit()
        migrating.wait(timeout=60)
        # The old code keeps running with the new table.
        wait_for_more(responses)
    assert migrating.returncode == 0, release.output()
    assert "later" in columns(database)
    assert {response.status for response in responses} == {200}
    assert_books_agree(site, answered={response.document["id"] for response in responses})


def test_index_build_does_not_block_requests_while_it_waits(
    site: Product, database: "psycopg.Connection[Any]", tmp_path: Path
) -> None:
    # Every call writes this table as well, and it isn't partitioned.
    index = "CREATE INDEX CONCURRENTLY use_by_cost ON credits_usehour (credits)"
    release = Release(tmp_path, index, name="indexed", atomic=False)
    with calls(site) as responses:
        database.execute("LOCK TABLE credits_usehour IN ROW EXCLUSIVE MODE")
        migrating = release.migrate(site)
        release.wait_for_output("Applying indexed")
        with pytest.raises(subprocess.TimeoutExpired):
            migrating.wait(timeout=3)
        database.commit()
        migrating.wait(timeout=60)
    assert migrating.returncode == 0, release.output()
    assert {response.status for response in responses} == {200}


def test_day_of_results_is_dropped_while_requests_are_served(
    site: Product, database: "psycopg.Connection[Any]"
) -> None:
    old = "validation_storedresult_20260101"
    with calls(site) as responses:
        for statement in (
            f"CREATE TABLE {old} PARTITION OF validation_storedresult "
            "FOR VALUES FROM ('2026-01-01') TO ('2026-01-02')",
            f"INSERT INTO {old} (result_id, account_id, packed, at) "  # noqa: S608
            "SELECT 'val_' || n, 1, repeat('x', 200), '2026-01-01' "
            "FROM generate_series(1, 20000) AS n",
        ):
            database.execute(statement)
        database.commit()
        manage(site, "run_daily")
        wait_for_more(responses)
    assert {response.status for response in responses} == {200}
    assert database.execute("SELECT to_regclass(%s)", [old]).fetchone() == (None,)
    assert_books_agree(site, answered={response.document["id"] for response in responses})


def test_concurrent_migrate_commands_wait_for_each_other(
    site: Product, database: "psycopg.Connection[Any]", tmp_path: Path
) -> None:
    column = f"ALTER TABLE {TABLE} ADD COLUMN last integer NULL"
    release = Release(tmp_path, column, name="last")
    database.execute("SELECT pg_advisory_lock(%s)", [LOCK_ID])
    database.commit()
    migrating = release.migrate(site)
    release.wait_for_output("Another process is migrating")
    assert "last" not in columns(database)
    database.execute("SELECT pg_advisory_unlock(%s)", [LOCK_ID])
    database.commit()
    migrating.wait(timeout=60)
    assert migrating.returncode == 0, release.output()
    assert "last" in columns(database)


def columns(database: "psycopg.Connection[Any]") -> set[str]:
    query = "SELECT column_name FROM information_schema.columns WHERE table_name = %s"
    names = {str(row[0]) for row in database.execute(query, [TABLE])}
    database.commit()
    return names
