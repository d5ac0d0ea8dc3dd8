"""Django's file and database caches lose counts under concurrent writes."""

import fcntl
import json
import math
import operator
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
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
    CREATE TABLE IF NOT EXISTS entries
        (key TEXT PRIMARY KEY, value TEXT, written REAL, expires REAL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS entries_expires ON entries (expires);
"""
# After the clock was set back, entries from the future would expire too late.
_IS_LIVE = "(expires > :now AND written <= :now + 60)"
_SET = """
    INSERT INTO entries VALUES (:key, :value, :now, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, written = excluded.written, expires = excluded.expires
"""
_ADD = f"{_SET} WHERE NOT {_IS_LIVE}"
_INCREMENT = f"""
    INSERT INTO entries VALUES (:key, :value, :now, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = CASE WHEN {_IS_LIVE} THEN CAST(value AS INTEGER) + :value ELSE :value END,
        written = CASE WHEN {_IS_LIVE} THEN written ELSE :now END,
        expires = CASE WHEN {_IS_LIVE} THEN expires ELSE :expires END
    RETURNING value
"""  # noqa: S608 - constants only
_GET = f"SELECT value FROM entries WHERE key = :key AND {_IS_LIVE}"  # noqa: S608
_DELETE = "DELETE FROM entries WHERE key = :key"
_SWEEP = f"DELETE FROM entries WHERE NOT {_IS_LIVE}"  # noqa: S608
_SWEEP_SECONDS = 60


class _Store:
    """Callers hold the lock."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self.connection = _open_or_recreate(path, busy_timeout)
        self.lock = threading.Lock()
        self._swept_at = time.monotonic()

    def execute(self, statement: str, values: Values) -> tuple[int, str | None]:
        cursor = self.connection.execute(statement, {**values, "now": time.time()})
        rows = cursor.fetchall()
        return cursor.rowcount, rows[0][0] if rows else None

    def sweep(self) -> None:
        if time.monotonic() - self._swept_at > _SWEEP_SECONDS:
            self._swept_at = time.monotonic()
            self.execute(_SWEEP, {})


def _open(path: Path, busy_timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=busy_timeout, isolation_level=None, check_same_thread=False
    )
    connection.executescript(_SCHEMA)
    return connection


def _open_or_recreate(path: Path, busy_timeout: float) -> sqlite3.Connection:
    """Recreate a corrupt file: losing counts is harmless."""
    # Processes that create it concurrently get "database is locked".
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


# A forked process needs another connection.
@lru_cache(maxsize=8)
def _shared_store(path: str, busy_timeout: float, process: int) -> _Store:
    return _Store(Path(path), busy_timeout)


class SQLiteCache(BaseCache):
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
        _, value = self._run(_INCREMENT, self._entry(key, delta, DEFAULT_TIMEOUT, version))
        return int(value or 0)

    def delete(self, key: str, version: Version = None) -> bool:
        key = self.make_and_validate_key(key, version=version)
        return self._run(_DELETE, {"key": key})[0] == 1

    def clear(self) -> None:
        self._run("DELETE FROM entries", {})

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
        with self._store() as store:
            store.sweep()
            return store.execute(statement, values)

    @contextmanager
    def _store(self) -> Iterator[_Store]:
        try:
            store = _shared_store(self._path, self._busy_timeout, os.getpid())
            with store.lock:
                yield store
        except sqlite3.DatabaseError as error:
            # Unless it was only locked, reopen the file in the next call.
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
                _shared_store.cache_clear()
            raise


class SQLiteCounters(SQLiteCache):
    """incr() creates a missing counter."""

    def add(
        self, key: str, value: object, timeout: Timeout = DEFAULT_TIMEOUT, version: Version = None
    ) -> bool:
        return False

    def incr_within(self, limits: Mapping[str, int], delta: int) -> tuple[bool, list[int]]:
        entries = [self._entry(key, delta) for key in limits]
        with self._store() as store, store.connection:
            store.connection.execute("BEGIN IMMEDIATE")
            counts = [int(store.execute(_INCREMENT, entry)[1] or 0) for entry in entries]
            fits = all(map(operator.le, counts, limits.values()))
            if not fits:
                store.connection.rollback()
                counts = [count - delta for count in counts]
        return fits, counts

    def is_healthy(self) -> bool:
        """Increment a counter without waiting, which would block the worker."""
        _Store(Path(self._path), 0).execute(_INCREMENT, self._entry("is-healthy", 1))
        return True
