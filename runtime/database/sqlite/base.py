"""Django's SQLite backend, whose writers wait without stopping their process.

SQLite waits for its write lock inside C, which stops every greenlet of a web worker: those that
need no database, and the one that holds the lock and had to wait for a socket in the middle of its
transaction. So writers of one process queue on a lock that greenlets (and threads) can wait for,
and the first of them asks SQLite again and again instead of waiting in it. After the database's
PATIENCE, in seconds, all of them give up.
"""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.backends.sqlite3.schema import DatabaseSchemaEditor

_writer = threading.RLock()
_READS = ("SELECT", "PRAGMA", "EXPLAIN", "SAVEPOINT", "RELEASE", "ROLLBACK")
# For a charge and its row in the log, in bytes.
LEAST_ROOM = 64 * 1024
# Between two tries, in seconds: uneven, so that several processes do not keep step.
_PAUSES = (0.001, 0.01)


class Cursor(base.SQLiteCursorWrapper):
    wrapper: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        return self._alone(super().execute, query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        return self._alone(super().executemany, query, param_list)

    def _alone(self, run: Callable[[str, Any], Any], query: str, params: Any) -> Any:
        if query.lstrip()[:9].upper().startswith(_READS):
            # Another process that cleans up after itself can lock even a reader out for a moment.
            return _ask(lambda: run(query, params), self.wrapper.patience_ends())
        if self.wrapper.holds_writer:
            return _ask(lambda: run(query, params), self.wrapper.gives_up_at)
        self.wrapper.take_writer()
        try:
            return _ask(lambda: run(query, params), self.wrapper.gives_up_at)
        finally:
            self.wrapper.leave_writer()


class _Kept:
    """Connections that wait for the next request. Opening one costs more than most requests ask of
    it, and each request of a web worker is a greenlet that would open its own."""

    _of_file: dict[tuple[str, int, int], list[Any]] = {}

    @classmethod
    def of(cls, path: str) -> list[Any]:
        """Of this process alone, and of the file that stands there now: not of one before it."""
        try:
            file = Path(path).stat().st_ino
        except FileNotFoundError:
            # Who makes it keeps nothing.
            return []
        return cls._of_file.setdefault((path, os.getpid(), file), [])


class ObligingSchemaEditor(DatabaseSchemaEditor):
    """Takes the migrations that PostgreSQL needs, and builds their indexes as it always does."""

    def add_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        super().add_index(model, index)

    def remove_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        super().remove_index(model, index)


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = ObligingSchemaEditor
    holds_writer = False
    gives_up_at = 0.0

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.kept = _Kept.of(str(conn_params["database"]))
        if self.kept:
            return self.kept.pop()
        connect = super().get_new_connection
        return _ask(lambda: connect(conn_params), self.patience_ends())

    def run_prepared(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """SQLite keeps what it has parsed."""
        with self.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def answers(self) -> bool:
        """Whether the file can be read, and has room to grow."""
        with self.cursor() as cursor:
            cursor.execute("PRAGMA schema_version")
            is_there = bool(cursor.fetchone()[0])
        return is_there and _has_room(Path(self.settings_dict["NAME"]).parent)

    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.wrapper = self
        return cursor

    def _start_transaction_under_autocommit(self) -> None:
        with self.wrap_database_errors:
            self.take_writer()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self.leave_writer()
            raise

    def _commit(self) -> None:
        # A commit that fails leaves the transaction open: the rollback that follows leaves it.
        super()._commit()  # type: ignore[misc]
        self.leave_writer()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self.leave_writer()

    def _close(self) -> None:
        try:
            if self.is_worth_keeping():
                self.kept.append(self.connection)
            else:
                super()._close()  # type: ignore[misc]
        finally:
            self.leave_writer()

    def is_worth_keeping(self) -> bool:
        if self.errors_occurred or self.in_atomic_block or self.connection.in_transaction:
            return False
        most: int = self.settings_dict.get("KEPT_CONNECTIONS", 0)
        return len(self.kept) < most

    def take_writer(self) -> None:
        self.gives_up_at = self.patience_ends()
        if not _writer.acquire(timeout=self.settings_dict["PATIENCE"]):
            raise sqlite3.OperationalError("database is locked")
        self.holds_writer = True

    def patience_ends(self) -> float:
        return float(time.monotonic() + self.settings_dict["PATIENCE"])

    def leave_writer(self) -> None:
        if self.holds_writer:
            self.holds_writer = False
            _writer.release()


def _has_room(folder: Path) -> bool:
    disk = os.statvfs(folder)
    # The last blocks of some disks are for root alone.
    free = disk.f_bavail if os.geteuid() else disk.f_bfree
    # Some file systems do not say how large they are.
    return not disk.f_blocks or free * disk.f_frsize >= LEAST_ROOM


def _ask(run: Callable[[], Any], gives_up_at: float) -> Any:
    while True:
        try:
            return run()
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > gives_up_at:
                raise
        time.sleep(random.uniform(*_PAUSES))  # noqa: S311 - nothing secret about it
