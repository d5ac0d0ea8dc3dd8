"""A database of its own for tests that need several connections.

Such a test commits. Django would empty the tables after it, which the ledger's triggers refuse, and
with them what the migrations filled in: so it works in a copy, which is thrown away.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from pytest_django import DjangoDbBlocker


@pytest.fixture
def fresh_database(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path: Path
) -> Iterator[None]:
    settings = connection.settings_dict
    original = settings["NAME"]
    with django_db_blocker.unblock():
        connection.close()
        settings["NAME"] = _copy(original, tmp_path)
        try:
            yield
        finally:
            connection.close()
            settings["NAME"], copy = original, settings["NAME"]
            _drop(copy)


def at_once(times: int, act: Callable[[int], Any]) -> list[Any]:
    """Each in a thread, and so with a connection, of its own. What is raised is a result too."""

    def run(number: int) -> Any:
        try:
            return act(number)
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(run, range(times)))


def _copy(original: str, folder: Path) -> str:
    if connection.vendor == "sqlite":
        copy = folder / "fresh.sqlite3"
        with closing(sqlite3.connect(original)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return str(copy)
    copy_name = f"{original}_copy"
    as_admin(f'CREATE DATABASE "{copy_name}" TEMPLATE "{original}"')
    return copy_name


def _drop(copy: str) -> None:
    if connection.vendor == "sqlite":
        shutil.rmtree(Path(copy).parent, ignore_errors=True)
    else:
        as_admin(f'DROP DATABASE "{copy}" WITH (FORCE)')


def as_admin(statement: str) -> None:
    parameters = {**connection.get_connection_params(), "dbname": "postgres"}
    known = {
        name: parameters[name]
        for name in ("host", "port", "user", "password", "dbname")
        if name in parameters
    }
    with psycopg.connect(**known, autocommit=True) as admin:
        admin.execute(statement)
