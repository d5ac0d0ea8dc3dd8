"""Django's SQLite backend, with a write lock that greenlets can wait for.

SQLite waits for its write lock inside C code, which blocks all greenlets of a web worker: those
that need no database, and even the greenlet that holds the lock if it waits for a socket during its
transaction. So the writers of a process queue for a Python lock instead, and the writer that holds
it retries instead of waiting inside SQLite. All of them give up after LOCK_TIMEOUT seconds, a key
of the DATABASES setting.
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

_write_lock = threading.RLock()
_READS = ("SELECT", "PRAGMA", "EXPLAIN", "SAVEPOINT", "RELEASE", "ROLLBACK")
# Enough for a charge and its row in the request log.
MIN_FREE_BYTES = 64 * 1024
# The range of pauses between retries, in seconds: random, so that processes don't collide again.
_RETRY_PAUSES = (0.001, 0.01)


class Cursor(base.SQLiteCursorWrapper):
    wrapper: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        return self._run(super().execute, query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        return self._run(super().executemany, query, param_list)

    def _run(self, execute: Callable[[str, Any], Any], query: str, params: Any) -> Any:
        """Run a statement, under the write lock unless it only reads."""
        if query.lstrip()[:9].upper().startswith(_READS):
            # Another process that recovers the WAL file can lock out readers for a moment.
            return _retry_while_busy(lambda: execute(query, params), self.wrapper.lock_deadline())
        if self.wrapper.has_write_lock:
            return _retry_while_busy(lambda: execute(query, params), self.wrapper.deadline)
        self.wrapper.acquire_write_lock()
        try:
            return _retry_while_busy(lambda: execute(query, params), self.wrapper.deadline)
        finally:
            self.wrapper.release_write_lock()


class _IdleConnections:
    """Open connections that the next requests reuse.

    Opening a connection takes longer than most requests use it, and every request of a web worker
    is a greenlet that would open its own.
    """

    _by_file: dict[tuple[str, int, int], list[Any]] = {}

    @classmethod
    def for_file(cls, path: str) -> list[Any]:
        """Return this process's idle connections to the file that is at this path now.

        Connections to a file that was replaced are not reused.
        """
        try:
            inode = Path(path).stat().st_ino
        except FileNotFoundError:
            # The connection that creates the file isn't reused.
            return []
        return cls._by_file.setdefault((path, os.getpid(), inode), [])


class SchemaEditor(DatabaseSchemaEditor):
    """Accept the arguments of PostgreSQL's concurrent index operations, and ignore them."""

    def add_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        super().add_index(model, index)

    def remove_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        super().remove_index(model, index)


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = SchemaEditor
    has_write_lock = False
    deadline = 0.0

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.idle_connections = _IdleConnections.for_file(str(conn_params["database"]))
        if self.idle_connections:
            return self.idle_connections.pop()
        connect = super().get_new_connection
        return _retry_while_busy(lambda: connect(conn_params), self.lock_deadline())

    def run_prepared(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Execute a statement; Python's sqlite3 module caches the parsed form."""
        with self.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def is_available(self) -> bool:
        """Return whether the file can be read, and the disk has room for it to grow."""
        with self.cursor() as cursor:
            cursor.execute("PRAGMA schema_version")
            has_schema = bool(cursor.fetchone()[0])
        return has_schema and _has_free_space(Path(self.settings_dict["NAME"]).parent)

    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.wrapper = self
        return cursor

    def _start_transaction_under_autocommit(self) -> None:
        with self.wrap_database_errors:
            self.acquire_write_lock()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self.release_write_lock()
            raise

    def _commit(self) -> None:
        # If this raises, the transaction is still open: the rollback releases the lock.
        super()._commit()  # type: ignore[misc]
        self.release_write_lock()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self.release_write_lock()

    def _close(self) -> None:
        try:
            if self._is_reusable():
                self.idle_connections.append(self.connection)
            else:
                super()._close()  # type: ignore[misc]
        finally:
            self.release_write_lock()

    def _is_reusable(self) -> bool:
        if self.errors_occurred or self.in_atomic_block or self.connection.in_transaction:
            return False
        limit: int = self.settings_dict.get("MAX_IDLE_CONNECTIONS", 0)
        return len(self.idle_connections) < limit

    def acquire_write_lock(self) -> None:
        self.deadline = self.lock_deadline()
        if not _write_lock.acquire(timeout=self.settings_dict["LOCK_TIMEOUT"]):
            raise sqlite3.OperationalError("database is locked")
        self.has_write_lock = True

    def lock_deadline(self) -> float:
        return float(time.monotonic() + self.settings_dict["LOCK_TIMEOUT"])

    def release_write_lock(self) -> None:
        if self.has_write_lock:
            self.has_write_lock = False
            _write_lock.release()


def _has_free_space(folder: Path) -> bool:
    disk = os.statvfs(folder)
    # Some file systems reserve their last blocks for root.
    free = disk.f_bavail if os.geteuid() else disk.f_bfree
    # Some file systems report a size of 0.
    return not disk.f_blocks or free * disk.f_frsize >= MIN_FREE_BYTES


def _retry_while_busy(run: Callable[[], Any], deadline: float) -> Any:
    while True:
        try:
            return run()
        except sqlite3.OperationalError as error:
            is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(*_RETRY_PAUSES))  # noqa: S311 - not used for security
