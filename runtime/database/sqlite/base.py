"""Django's SQLite backend, with what Django's options can't do for a web worker.

- Greenlets wait for locks outside SQLite. With the option `timeout`, SQLite waits inside C code,
  which blocks all requests of a web worker, even those that only read
  (tests/operations/test_database_outage.py), and the transaction they wait for
  (tests/runtime/database/test_sqlite.py). Waiting ends after LOCK_TIMEOUT seconds, a key of
  DATABASES.
- Connections are reused. Each request is a greenlet, so Django's CONN_MAX_AGE doesn't keep them.
  Opening one takes 0.8 ms of CPU: without reuse, a metered call costs 1.3 times as much with 16
  concurrent callers, and twice as much with one.
"""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.backends.sqlite3 import base
from django.db.backends.sqlite3.schema import DatabaseSchemaEditor

if TYPE_CHECKING:
    from django.db.models import Index, Model

Result = TypeVar("Result")

# Enough for a charge and its row in the request log.
MIN_FREE_BYTES = 64 * 1024
# The range of pauses between attempts, in seconds: random, so that processes don't collide again.
_PAUSES = (0.0003, 0.003)

# Held while waiting for a lock: one greenlet of a process polls, the others queue behind it.
_polling = threading.Lock()
_idle: dict[tuple[str, int, int], list[sqlite3.Connection]] = {}


def _idle_connections(path: str) -> list[sqlite3.Connection]:
    """Return this process's idle connections to the file that is at this path now."""
    try:
        inode = Path(path).stat().st_ino
    except FileNotFoundError:
        # The connection that creates the file isn't reused.
        return []
    return _idle.setdefault((path, os.getpid(), inode), [])


def _wait_while_busy(run: Callable[[], Result], timeout: float) -> Result:
    """Run a statement; while a lock is held, let other greenlets run and try again."""
    try:
        return run()
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
    deadline = time.monotonic() + timeout
    with _polling:
        while True:
            try:
                return run()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(*_PAUSES))  # noqa: S311 - not used for security


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


class Cursor(base.SQLiteCursorWrapper):
    lock_timeout: float

    def execute(self, query: str, params: Any = None) -> "Cursor":
        run = super().execute
        _wait_while_busy(lambda: run(query, params), self.lock_timeout)
        return self

    def executemany(self, query: str, param_list: Iterable[Any]) -> "Cursor":
        run, rows = super().executemany, list(param_list)
        _wait_while_busy(lambda: run(query, rows), self.lock_timeout)
        return self


class SchemaEditor(DatabaseSchemaEditor):
    """Accept the arguments of PostgreSQL's concurrent index operations, and ignore them."""

    def add_index(self, model: "type[Model]", index: "Index", concurrently: bool = False) -> None:
        super().add_index(model, index)

    def remove_index(
        self, model: "type[Model]", index: "Index", concurrently: bool = False
    ) -> None:
        super().remove_index(model, index)


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = SchemaEditor

    def get_new_connection(self, conn_params: dict[str, object]) -> sqlite3.Connection:
        self.idle_connections = _idle_connections(str(conn_params["database"]))
        if self.idle_connections:
            return self.idle_connections.pop()
        connect: Callable[[dict[str, object]], sqlite3.Connection] = super().get_new_connection
        return _wait_while_busy(lambda: connect(conn_params), self.settings_dict["LOCK_TIMEOUT"])

    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.lock_timeout = self.settings_dict["LOCK_TIMEOUT"]
        return cursor

    def close(self) -> None:
        """Leave the connection to the next request, unless its state is in doubt."""
        if self.connection and self._is_reusable():
            self.idle_connections.append(self.connection)
            self.connection = None
        super().close()

    def _is_reusable(self) -> bool:
        if self.errors_occurred or self.in_atomic_block or self.connection.in_transaction:
            return False
        limit: int = self.settings_dict.get("MAX_IDLE_CONNECTIONS", 0)
        return len(self.idle_connections) < limit

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


def _has_free_space(folder: Path) -> bool:
    disk = os.statvfs(folder)
    # Some file systems reserve their last blocks for root.
    free = disk.f_bavail if os.geteuid() else disk.f_bfree
    # Some file systems report a size of 0.
    return not disk.f_blocks or free * disk.f_frsize >= MIN_FREE_BYTES
