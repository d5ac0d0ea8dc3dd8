"""Dump the whole database to a stream and restore it, with the database's own tools."""

import os
import shutil
import sqlite3
import subprocess
from abc import ABC, abstractmethod
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from django.db import OperationalError, connection

# Another user on another server may restore the dump.
PORTABLE = ("--no-owner", "--no-privileges")


class DumpFailed(Exception):
    """The message explains why, for the operator. Nothing was changed."""


class Dump(ABC):
    # The dump's file name in a backup. Common tools recognize its extension.
    name: str

    @abstractmethod
    def write(self, target: IO[bytes], *, temporary_dir: Path) -> None:
        """Write a consistent snapshot, even while other processes write to the database."""

    @abstractmethod
    def require_empty_target(self) -> None:
        """Raise DumpFailed if there is a database that a restore would overwrite."""

    @abstractmethod
    def restore(self, source: IO[bytes]) -> None:
        """Restore everything, or nothing."""


class SqliteDump(Dump):
    name = "db.sqlite3"

    def __init__(self) -> None:
        self.file = Path(connection.settings_dict["NAME"])

    def write(self, target: IO[bytes], *, temporary_dir: Path) -> None:
        if not self.file.exists():
            raise DumpFailed(f"There is no database at {self.file}.")
        with TemporaryDirectory(prefix=".backup-", dir=temporary_dir) as folder:
            copy = Path(folder) / self.name
            try:
                # Unlike a page-by-page copy, VACUUM INTO leaves deleted rows out.
                with closing(sqlite3.connect(self.file, timeout=60)) as database:
                    database.execute("VACUUM INTO ?", [str(copy)])
            except sqlite3.Error as error:
                raise DumpFailed(f"SQLite could not copy {self.file}: {error}.") from error
            _check_integrity(copy)
            with copy.open("rb") as stream:
                shutil.copyfileobj(stream, target)

    def require_empty_target(self) -> None:
        # SQLite would replay an old -wal file into the new database.
        existing = [path for path in self._files() if path.exists()]
        if existing:
            names = " ".join(str(path) for path in existing)
            raise DumpFailed(f"A database already exists. Stop the service, then move: {names}")

    def restore(self, source: IO[bytes]) -> None:
        with TemporaryDirectory(prefix=".restore-", dir=self.file.parent) as folder:
            copy = Path(folder) / self.name
            with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as target:
                shutil.copyfileobj(source, target)
                target.flush()
                os.fsync(target.fileno())
            _check_integrity(copy)
            self.require_empty_target()
            # Unlike a rename, this fails if another process has created the file by now.
            self.file.hardlink_to(copy)

    def _files(self) -> list[Path]:
        return [Path(f"{self.file}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]


class PostgresDump(Dump):
    name = "database.pgdump"

    def write(self, target: IO[bytes], *, temporary_dir: Path) -> None:
        # The backup's zip file compresses it.
        command = ["pg_dump", "--format=custom", "--compress=0", *PORTABLE]
        with _start(command, stdout=subprocess.PIPE) as process:
            shutil.copyfileobj(_pipe(process.stdout), target)
        _check_exit_status(process)

    def require_empty_target(self) -> None:
        name = connection.settings_dict["NAME"]
        try:
            tables = connection.introspection.table_names()
        except OperationalError as error:
            raise DumpFailed(f"Can't connect to the database {name}: {error}") from error
        if tables:
            raise DumpFailed(
                f"The database {name} is not empty. Create a new one and set DATABASE_URL to it."
            )

    def restore(self, source: IO[bytes]) -> None:
        self.require_empty_target()
        connection.close()
        name = str(connection.get_connection_params()["dbname"])
        command = ["pg_restore", "--single-transaction", "--dbname", name, *PORTABLE]
        # If pg_restore gives up, it closes the pipe. Its exit status then reports the failure.
        with suppress(BrokenPipeError), _start(command, stdin=subprocess.PIPE) as process:
            shutil.copyfileobj(source, _pipe(process.stdin))
        _check_exit_status(process)


def get_dump() -> Dump:
    """Return the dump class for the configured database."""
    return PostgresDump() if connection.vendor == "postgresql" else SqliteDump()


def _check_integrity(file: Path) -> None:
    try:
        with closing(sqlite3.connect(file)) as database:
            results = [str(row[0]) for row in database.execute("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        results = [str(error)]
    if results != ["ok"]:
        raise DumpFailed(f"This SQLite database is damaged: {results[0]}")


def _start(command: list[str], **pipes: int) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(command, env={**os.environ, **_connection_variables()}, **pipes)  # type: ignore[call-overload, no-any-return]
    except FileNotFoundError:
        raise DumpFailed(
            f"{command[0]} was not found. Install PostgreSQL's client programs, in the server's "
            "version."
        ) from None


def _connection_variables() -> dict[str, str]:
    """Return libpq's environment variables. Every user of the machine can read a command line."""
    import psycopg  # Not at the top, so that instances on SQLite don't load the driver.

    parameters = connection.get_connection_params()
    options = [
        (option.keyword.decode(), option.envvar) for option in psycopg.pq.Conninfo.get_defaults()
    ]
    return {
        variable.decode(): str(parameters[keyword])
        for keyword, variable in options
        if variable and parameters.get(keyword)
    }


def _pipe(stream: Any) -> IO[bytes]:
    pipe: IO[bytes] = stream
    return pipe


def _check_exit_status(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode:
        raise DumpFailed(f"PostgreSQL's client program failed with status {process.returncode}.")
