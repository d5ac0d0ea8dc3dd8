"""The whole database as one stream, and back: with what each of the two brings along for it."""

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

# It may be restored by another user of another server.
ANYBODYS = ("--no-owner", "--no-privileges")


class DumpFailed(Exception):
    """The text is for the operator. Nothing was changed."""


class Dump(ABC):
    # What the stream is, by which any tool knows it.
    name: str

    @abstractmethod
    def write(self, target: IO[bytes], *, beside: Path) -> None:
        """One moment of the database, whoever writes to it meanwhile."""

    @abstractmethod
    def refuse_what_is_there(self) -> None:
        """A database is never written over."""

    @abstractmethod
    def restore(self, source: IO[bytes]) -> None:
        """All of it, or nothing."""


class SqliteDump(Dump):
    name = "db.sqlite3"

    def __init__(self) -> None:
        self.file = Path(connection.settings_dict["NAME"])

    def write(self, target: IO[bytes], *, beside: Path) -> None:
        if not self.file.exists():
            raise DumpFailed(f"There is no database at {self.file}.")
        with TemporaryDirectory(prefix=".backup-", dir=beside) as folder:
            copy = Path(folder) / self.name
            try:
                # Unlike a copy of its pages it holds nothing of what was deleted.
                with closing(sqlite3.connect(self.file, timeout=60)) as database:
                    database.execute("VACUUM INTO ?", [str(copy)])
            except sqlite3.Error as error:
                raise DumpFailed(f"SQLite could not copy {self.file}: {error}.") from error
            _refuse_unsound(copy)
            with copy.open("rb") as stream:
                shutil.copyfileobj(stream, target)

    def refuse_what_is_there(self) -> None:
        # An old -wal beside a new database would be played into it.
        there = [path for path in self._files() if path.exists()]
        if there:
            names = " ".join(str(path) for path in there)
            raise DumpFailed(f"A database is there already. Stop the product, then move: {names}")

    def restore(self, source: IO[bytes]) -> None:
        with TemporaryDirectory(prefix=".restore-", dir=self.file.parent) as folder:
            copy = Path(folder) / self.name
            with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as target:
                shutil.copyfileobj(source, target)
                target.flush()
                os.fsync(target.fileno())
            _refuse_unsound(copy)
            self.refuse_what_is_there()
            # Unlike a renaming it fails where a file has appeared meanwhile.
            self.file.hardlink_to(copy)

    def _files(self) -> list[Path]:
        return [Path(f"{self.file}{ending}") for ending in ("", "-wal", "-shm", "-journal")]


class PostgresDump(Dump):
    name = "database.pgdump"

    def write(self, target: IO[bytes], *, beside: Path) -> None:
        # Compressed it is with the rest of the backup.
        command = ["pg_dump", "--format=custom", "--compress=0", *ANYBODYS]
        with _started(command, stdout=subprocess.PIPE) as dumping:
            shutil.copyfileobj(_pipe(dumping.stdout), target)
        _refuse_failure(dumping)

    def refuse_what_is_there(self) -> None:
        name = connection.settings_dict["NAME"]
        try:
            tables = connection.introspection.table_names()
        except OperationalError as error:
            raise DumpFailed(f"The database {name} cannot be reached: {error}") from error
        if tables:
            raise DumpFailed(
                f"The database {name} is not empty. Make a new one, and name it in DATABASE_URL."
            )

    def restore(self, source: IO[bytes]) -> None:
        self.refuse_what_is_there()
        connection.close()
        name = str(connection.get_connection_params()["dbname"])
        command = ["pg_restore", "--single-transaction", "--dbname", name, *ANYBODYS]
        # One that has given up closes its pipe, now or as we do, and says so by its status.
        with suppress(BrokenPipeError), _started(command, stdin=subprocess.PIPE) as restoring:
            shutil.copyfileobj(source, _pipe(restoring.stdin))
        _refuse_failure(restoring)


def dump_of_this_database() -> Dump:
    return PostgresDump() if connection.vendor == "postgresql" else SqliteDump()


def _refuse_unsound(file: Path) -> None:
    try:
        with closing(sqlite3.connect(file)) as database:
            found = [str(row[0]) for row in database.execute("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    if found != ["ok"]:
        raise DumpFailed(f"This SQLite database is damaged: {found[0]}")


def _started(command: list[str], **pipes: int) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(command, env={**os.environ, **_where()}, **pipes)  # type: ignore[call-overload, no-any-return]
    except FileNotFoundError:
        raise DumpFailed(
            f"{command[0]} is not there. It comes with PostgreSQL's client programs; take those of "
            "the server's version."
        ) from None


def _where() -> dict[str, str]:
    """In the environment: what stands in a command line, everybody on the machine can read."""
    import psycopg  # A copy on SQLite need not load it.

    given = connection.get_connection_params()
    known = [(one.keyword.decode(), one.envvar) for one in psycopg.pq.Conninfo.get_defaults()]
    return {name.decode(): str(given[word]) for word, name in known if name and given.get(word)}


def _pipe(stream: Any) -> IO[bytes]:
    pipe: IO[bytes] = stream
    return pipe


def _refuse_failure(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode:
        raise DumpFailed(f"PostgreSQL's own program failed, with status {process.returncode}.")
