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
    """Return the folder for `restore`'s file, which becomes a hard link."""
    return settings.DATA_DIR if is_postgresql() else Path(connection.settings_dict["NAME"]).parent


def restore(copy: Path) -> None:
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
    # Unlike a rename, this fails if the file exists.
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
    try:
        with closing(sqlite3.connect(file, timeout=60)) as database:
            return database.execute(statement, values).fetchone()
    except sqlite3.Error as error:
        raise CommandError(f"SQLite failed to read {file}: {error}") from error


def _run(program: str, *options: str) -> None:
    from psycopg.pq import Conninfo  # Instances on SQLite don't load it.

    command = [program, "--no-owner", "--no-privileges", *options]
    # Not as arguments: every user can read a command line.
    parameters = connection.get_connection_params()
    names = {option.keyword.decode(): option.envvar for option in Conninfo.get_defaults()}
    variables = {
        variable.decode(): str(parameters[keyword])
        for keyword, variable in names.items()
        if variable and parameters.get(keyword)
    }
    try:
        subprocess.run(command, env={**os.environ, **variables}, check=True)
    except FileNotFoundError:
        raise CommandError(
            f"{program} was not found. Install PostgreSQL's client programs, in the server's "
            "version."
        ) from None
    except subprocess.CalledProcessError as error:
        raise CommandError(f"{program} failed with status {error.returncode}.") from None
