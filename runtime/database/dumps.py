"""Dump the database to a file and restore it, with SQLite's VACUUM INTO or PostgreSQL's pg_dump.

A dump is a snapshot of one moment, even while other processes write. A restore loads everything or
nothing. The messages of CommandError are for the operator.
"""

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from runtime.database.postgresql.pooler import require_session


def is_postgresql() -> bool:
    return connection.vendor == "postgresql"


def dump_name() -> str:
    """Return the dump's file name in a backup. Common tools recognize its extension."""
    return "database.pgdump" if is_postgresql() else "db.sqlite3"


def dump(copy: Path) -> None:
    if is_postgresql():
        require_session(connection)
        _run("pg_dump", "--format=custom", "--compress=1", f"--file={copy}")
        return
    # Unlike a page-by-page copy, VACUUM INTO leaves deleted rows out.
    _run_sqlite(connection.settings_dict["NAME"], "VACUUM INTO ?", str(copy))
    _check_integrity(copy)


def restore_folder() -> Path:
    """Return where `restore` needs its file: SQLite's becomes the database."""
    return settings.DATA_DIR if is_postgresql() else Path(connection.settings_dict["NAME"]).parent


def restore(copy: Path) -> None:
    """Load a dump, which may be moved, into a database that require_empty_database() accepts."""
    if is_postgresql():
        require_session(connection)
        connection.close()
        # Without --dbname, pg_restore prints the dump.
        name = connection.get_connection_params()["dbname"]
        _run("pg_restore", "--single-transaction", f"--dbname={name}", str(copy))
        return
    _check_integrity(copy)
    copy.chmod(0o600)
    with copy.open("rb") as file:
        os.fsync(file.fileno())
    # Unlike a rename, this fails if another process has created the file by now.
    Path(connection.settings_dict["NAME"]).hardlink_to(copy)


def require_empty_database() -> None:
    name = connection.settings_dict["NAME"]
    if is_postgresql():
        if connection.introspection.table_names():
            raise CommandError(
                f"The database {name} is not empty. Create a new one and set DATABASE_URL to it."
            )
        return
    # SQLite would replay an old -wal file into the new database.
    files = [f"{name}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]
    if existing := [file for file in files if Path(file).exists()]:
        raise CommandError(
            f"A database already exists. Stop the service, then move: {' '.join(existing)}"
        )


def _check_integrity(file: Path) -> None:
    if (result := _run_sqlite(file, "PRAGMA integrity_check(1)")) != ("ok",):
        raise CommandError(f"This SQLite database is damaged: {result}")


def _run_sqlite(file: str | Path, statement: str, *values: str) -> object:
    """Return the statement's first row."""
    try:
        with closing(sqlite3.connect(file, timeout=60)) as database:
            return database.execute(statement, values).fetchone()
    except sqlite3.Error as error:
        raise CommandError(f"SQLite failed to read {file}: {error}") from error


def _run(program: str, *options: str) -> None:
    """Run one of PostgreSQL's client programs."""
    # Another user on another server may restore the dump.
    command = [program, "--no-owner", "--no-privileges", *options]
    try:
        subprocess.run(command, env={**os.environ, **_connection_variables()}, check=True)
    except FileNotFoundError:
        raise CommandError(
            f"{program} was not found. Install PostgreSQL's client programs, in the server's "
            "version."
        ) from None
    except subprocess.CalledProcessError as error:
        raise CommandError(f"{program} failed with status {error.returncode}.") from None


def _connection_variables() -> dict[str, str]:
    """Return libpq's environment variables. Every user of the machine can read a command line.

    Django's own, for dbshell, leave out options of DATABASE_URL, such as ?host=/run/postgresql.
    """
    from psycopg.pq import Conninfo  # Not at the top, so that SQLite's instances don't load it.

    parameters = connection.get_connection_params()
    names = {option.keyword.decode(): option.envvar for option in Conninfo.get_defaults()}
    return {
        variable.decode(): str(parameters[keyword])
        for keyword, variable in names.items()
        if variable and parameters.get(keyword)
    }
