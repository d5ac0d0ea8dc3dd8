"""A private copy of the test database, for tests that use several connections.

Such a test commits. Django would flush all tables after it, but the ledger's triggers refuse that,
and a flush would delete the rows that migrations insert. So the test gets a copy of the database,
which is dropped afterwards.
"""

import os
import shutil
import signal
import sqlite3
import time
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


def run_concurrently(times: int, call: Callable[[int], Any]) -> list[Any]:
    """Run `call(0)`, `call(1)`… in as many threads, each with its own connection.

    Return all results in order. A raised exception is returned as the result of its call.
    """

    def run(number: int) -> Any:
        try:
            return call(number)
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(run, range(times)))


def run_and_kill(work: Callable[[], object], when: Callable[[], bool]) -> None:
    """Run the work in another process, and kill it as soon as the condition holds."""
    # A connection can't be shared by two processes.
    connections.close_all()
    process = os.fork()
    if not process:
        try:
            work()
        finally:
            os._exit(1)
    try:
        ends_at = time.monotonic() + 60
        while not when():
            assert time.monotonic() < ends_at
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    connection.close()


def _copy(original: str, folder: Path) -> str:
    if connection.vendor == "sqlite":
        copy = folder / "fresh.sqlite3"
        with closing(sqlite3.connect(original)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return str(copy)
    copy_name = f"{original}_copy"
    execute_as_admin(f'CREATE DATABASE "{copy_name}" TEMPLATE "{original}"')
    return copy_name


def _drop(copy: str) -> None:
    if connection.vendor == "sqlite":
        shutil.rmtree(Path(copy).parent, ignore_errors=True)
    else:
        execute_as_admin(f'DROP DATABASE "{copy}" WITH (FORCE)')


def execute_as_admin(statement: str) -> None:
    with connect(dbname="postgres", autocommit=True) as admin:
        admin.execute(statement)


def connect(**changed: Any) -> "psycopg.Connection[Any]":
    """Open another connection to the test database."""
    options = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    return psycopg.connect(**{n: options[n] for n in names if n in options} | changed)
