"""The cache and counters that all processes of one machine share, in a SQLite file.

Failed sign-ins and requests are counted exactly across processes (tests/runtime/cache), which no
cache of Django does without a server: its memory cache belongs to one process, add() of its file
cache isn't atomic, and its database cache loses counts, and would undo those of a request whose
transaction fails. Here each operation is one atomic statement. The data is short-lived, so writes
don't wait for the disk. Several machines share Redis instead: runtime/cache/redis.py.
"""

import fcntl
import json
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

Timeout: TypeAlias = float | None
Version: TypeAlias = int | None
Values: TypeAlias = dict[str, str | int | float]

_SCHEMA = """
    PRAGMA journal_mode=WAL;
    PRAGMA synchronous=OFF;
    CREATE TABLE IF NOT EXISTS kept
        (key TEXT PRIMARY KEY, value TEXT, written REAL, expires REAL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS kept_expires ON kept (expires);
"""
# An entry with a write time in the future was written before the clock was set back. It is ignored:
# it would expire too late, and a lockout it holds would last as long.
_IS_LIVE = "(expires > :now AND written <= :now + 60)"
_SET = """
    INSERT INTO kept VALUES (:key, :value, :now, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, written = excluded.written, expires = excluded.expires
"""
_ADD = f"{_SET} WHERE NOT {_IS_LIVE}"
_INCREMENT = f"""
    INSERT INTO kept VALUES (:key, :value, :now, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = CASE WHEN {_IS_LIVE} THEN CAST(value AS INTEGER) + :value ELSE :value END,
        written = CASE WHEN {_IS_LIVE} THEN written ELSE :now END,
        expires = CASE WHEN {_IS_LIVE} THEN expires ELSE :expires END
    RETURNING value
"""  # noqa: S608 - constants only
_GET = f"SELECT value FROM kept WHERE key = :key AND {_IS_LIVE}"  # noqa: S608
_DELETE = "DELETE FROM kept WHERE key = :key"
_SWEEP = f"DELETE FROM kept WHERE NOT {_IS_LIVE}"  # noqa: S608
_SWEEP_SECONDS = 60


class _Store:
    """Share one connection between all threads and greenlets of a process."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self._connection = _open_or_recreate(path, busy_timeout)
        self._lock = threading.Lock()
        self._swept_at = time.monotonic()

    def run(self, statement: str, values: Values) -> tuple[int, str | None]:
        """Execute a statement; return the number of changed rows, and the value it returned."""
        now = time.time()
        with self._lock:
            if time.monotonic() - self._swept_at > _SWEEP_SECONDS:
                self._swept_at = time.monotonic()
                self._connection.execute(_SWEEP, {"now": now})
            cursor = self._connection.execute(statement, {**values, "now": now})
            rows = cursor.fetchall()
            return cursor.rowcount, rows[0][0] if rows else None

    @contextmanager
    def transaction(self) -> Iterator[Callable[[str, Values], str | None]]:
        """Yield a function that executes a statement and returns its value, in one transaction."""
        now = time.time()

        def execute(statement: str, values: Values) -> str | None:
            row = self._connection.execute(statement, {**values, "now": now}).fetchone()
            return row[0] if row else None

        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield execute
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise


def _open(path: Path, busy_timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=busy_timeout, isolation_level=None, check_same_thread=False
    )
    connection.executescript(_SCHEMA)
    return connection


def _open_or_recreate(path: Path, busy_timeout: float) -> sqlite3.Connection:
    """Open the file, or recreate it if a power cut has corrupted it.

    Serving requests matters more than the counts. A file lock lets one process do this at a time:
    processes that create the file concurrently get "database is locked" errors.
    """
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return _open(path, busy_timeout)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            return _open(path, busy_timeout)


@lru_cache(maxsize=8)
def _store(path: str, busy_timeout: float, process: int) -> _Store:
    # Django creates a cache object for every greenlet. A forked process must not use its parent's
    # connection, so `process` is part of the key.
    return _Store(Path(path), busy_timeout)


class SQLiteCache(BaseCache):
    """What allauth's rate limits and ours need of a cache."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._path = location
        self._busy_timeout: float = params["OPTIONS"]["timeout"]

    def add(
        self, key: str, value: object, timeout: Timeout = DEFAULT_TIMEOUT, version: Version = None
    ) -> bool:
        return self._run(_ADD, self._entry(key, json.dumps(value), timeout, version))[0] == 1

    def get(self, key: str, default: object = None, version: Version = None) -> object:
        _, value = self._run(_GET, {"key": self.make_and_validate_key(key, version=version)})
        return default if value is None else json.loads(value)

    def set(
        self, key: str, value: object, timeout: Timeout = DEFAULT_TIMEOUT, version: Version = None
    ) -> None:
        self._run(_SET, self._entry(key, json.dumps(value), timeout, version))

    def incr(self, key: str, delta: int = 1, version: Version = None) -> int:
        """Increment a counter. Unlike Django's, this creates it, in the same statement."""
        _, value = self._run(_INCREMENT, self._entry(key, delta, DEFAULT_TIMEOUT, version))
        return int(value or 0)

    def delete(self, key: str, version: Version = None) -> bool:
        key = self.make_and_validate_key(key, version=version)
        return self._run(_DELETE, {"key": key})[0] == 1

    def clear(self) -> None:
        self._run("DELETE FROM kept", {})

    def _entry(
        self,
        key: str,
        value: str | int,
        timeout: Timeout = DEFAULT_TIMEOUT,
        version: Version = None,
    ) -> Values:
        expires = self.get_backend_timeout(timeout)
        key = self.make_and_validate_key(key, version=version)
        return {"key": key, "value": value, "expires": math.inf if expires is None else expires}

    def _run(self, statement: str, values: Values) -> tuple[int, str | None]:
        try:
            return self._store().run(statement, values)
        except sqlite3.DatabaseError as error:
            _close_if_broken(error)
            raise

    def _store(self) -> _Store:
        return _store(self._path, self._busy_timeout, os.getpid())


def _close_if_broken(error: sqlite3.DatabaseError) -> None:
    """Let the next call open the file again if it is corrupt or gone."""
    if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
        _store.cache_clear()


class SQLiteCounters(SQLiteCache):
    """Count in one statement: add() does nothing, because incr() creates a missing counter."""

    def add(
        self, key: str, value: object, timeout: Timeout = DEFAULT_TIMEOUT, version: Version = None
    ) -> bool:
        return False

    def incr_within(self, limits: Mapping[str, int], delta: int) -> tuple[bool, list[int]]:
        """Increment all counters, or none if one would exceed its limit, and return the counts."""
        entries = [self._entry(key, delta) for key in limits]
        try:
            with self._store().transaction() as execute:
                counts = [int(execute(_GET, entry) or 0) for entry in entries]
                room = zip(counts, limits.values(), strict=True)
                fits = all(count + delta <= limit for count, limit in room)
                if fits:
                    counts = [int(execute(_INCREMENT, entry) or 0) for entry in entries]
        except sqlite3.DatabaseError as error:
            _close_if_broken(error)
            raise
        return fits, counts

    def is_healthy(self) -> bool:
        """Increment a counter, as a request does.

        The timeout is 0, because waiting inside SQLite would block the whole worker.
        """
        _Store(Path(self._path), 0).run(_INCREMENT, self._entry("is-healthy", 1))
        return True
