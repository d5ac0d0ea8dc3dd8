"""Counters and cache that all processes of one machine share, in an SQLite file of their own.

Django's memory and database caches lose counts when several processes add at once; here each
operation is one statement that SQLite runs alone. Nothing in the file outlives its use, so it is
written without waiting for the disk. Several machines share Redis instead: runtime/cache/redis.py.
"""

import fcntl
import json
import os
import sqlite3
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

_SCHEMA = """
    PRAGMA journal_mode=WAL;
    PRAGMA synchronous=OFF;
    CREATE TABLE IF NOT EXISTS kept
        (key TEXT PRIMARY KEY, value TEXT, written REAL, expires REAL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS kept_expires ON kept (expires);
"""
# What was written in the future was written before the clock was set back: it would live on for so
# much longer, and whoever it locks out would be locked out for so long.
_LIVES = "(expires IS NULL OR expires > :now) AND written <= :now + 60"
# An entry that has expired gives way to a new one; one that lives refuses it.
_SET = """
    INSERT INTO kept VALUES (:key, :value, :now, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, written = excluded.written, expires = excluded.expires
"""
_ADD = f"{_SET} WHERE kept.expires <= :now OR kept.written > :now + 60"
_ADD_TO = f"""
    UPDATE kept SET value = CAST(value AS INTEGER) + :delta
    WHERE key = :key AND {_LIVES} RETURNING value
"""  # noqa: S608 - our own words
_GET = f"SELECT value FROM kept WHERE key = :key AND {_LIVES}"  # noqa: S608
_TOUCH = f"UPDATE kept SET expires = :expires WHERE key = :key AND {_LIVES}"  # noqa: S608
_SWEEP = f"DELETE FROM kept WHERE NOT ({_LIVES})"  # noqa: S608
# Counts from the first time on, in the same statement: whoever is first sets when it expires.
_COUNT = """
    INSERT INTO kept VALUES (:key, :delta, :now, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = CASE WHEN kept.expires <= :now THEN excluded.value
            ELSE CAST(kept.value AS INTEGER) + :delta END,
        expires = CASE WHEN kept.expires <= :now THEN excluded.expires
            ELSE kept.expires END
    RETURNING value
"""
_SWEEP_SECONDS = 60
_LOOK_SECONDS = 1
_BUSY_SECONDS = 5.0


class _Store:
    """One connection for all threads and greenlets of a process; no statement waits inside."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self._connection = _open_alone(path, busy_seconds)
        self._lock = threading.Lock()
        self._swept_at = self._looked_at = time.monotonic()
        self._path, self._file = path, _file_at(path)

    def is_where_it_was(self) -> bool:
        """False when the file was removed: other processes may count in a new one by now."""
        if time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return True
        self._looked_at = time.monotonic()
        return _file_at(self._path) == self._file

    def run(self, statement: str, values: dict[str, Any]) -> tuple[int, list[Any]]:
        """How many rows changed, and the rows that came back."""
        now = time.time()
        with self._lock:
            if time.monotonic() - self._swept_at > _SWEEP_SECONDS:
                self._swept_at = time.monotonic()
                self._connection.execute(_SWEEP, {"now": now})
            cursor = self._connection.execute(statement, {**values, "now": now})
            rows = cursor.fetchall()
            return cursor.rowcount, rows


def _file_at(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _open(path: Path, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
    )
    connection.executescript(_SCHEMA)
    return connection


def _open_alone(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """One process at a time: those that make a new file side by side lock each other out.

    A power cut can leave the file torn. What it counted is worth less than an answer, so the first
    that finds it torn begins afresh, and the others find it whole.
    """
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return _open(path, busy_seconds)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            for end in ("", "-wal", "-shm"):
                path.with_name(path.name + end).unlink(missing_ok=True)
            return _open(path, busy_seconds)


@lru_cache(maxsize=8)
def _store(path: str, busy_seconds: float, process: int) -> _Store:
    # Django makes a cache object for every greenlet; a forked process must not share a connection.
    return _Store(Path(path), busy_seconds)


class SQLiteCache(BaseCache):
    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._path = location
        self._busy_seconds = float(params.get("OPTIONS", {}).get("busy_seconds", _BUSY_SECONDS))

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        entry = self._entry(key, timeout, version)
        return self._run(_ADD, **entry, value=json.dumps(value))[0] == 1

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        _, rows = self._run(_GET, key=self._name(key, version))
        return json.loads(rows[0][0]) if rows else default

    def set(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._run(_SET, **self._entry(key, timeout, version), value=json.dumps(value))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        _, rows = self._run(_ADD_TO, key=self._name(key, version), delta=delta)
        if not rows:
            raise ValueError(f"Key '{key}' not found")
        return int(rows[0][0])

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._run(_TOUCH, **self._entry(key, timeout, version))[0] == 1

    def delete(self, key: str, version: int | None = None) -> bool:
        changed, _ = self._run("DELETE FROM kept WHERE key = :key", key=self._name(key, version))
        return changed == 1

    def clear(self) -> None:
        self._run("DELETE FROM kept")

    def _name(self, key: str, version: int | None) -> str:
        return self.make_and_validate_key(key, version=version)

    def _entry(self, key: str, timeout: Any, version: int | None = None) -> dict[str, Any]:
        return {"key": self._name(key, version), "expires": self.get_backend_timeout(timeout)}

    def _run(self, statement: str, **values: Any) -> tuple[int, list[Any]]:
        try:
            if not self._store().is_where_it_was():
                _store.cache_clear()
            return self._store().run(statement, values)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
                # Torn or gone: the next one opens it afresh.
                _store.cache_clear()
            raise

    def _store(self) -> _Store:
        return _store(self._path, self._busy_seconds, os.getpid())


class SQLiteCounters(SQLiteCache):
    """Counts in one statement where the cache takes two: add() leaves it to incr()."""

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return False

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        _, rows = self._run(_COUNT, **self._entry(key, DEFAULT_TIMEOUT, version), delta=delta)
        return int(rows[0][0])

    def is_well(self) -> bool:
        """Counts, as a request would, but does not wait: that would stop the whole worker."""
        entry = self._entry("is-well", DEFAULT_TIMEOUT)
        _Store(Path(self._path), 0).run(_COUNT, {**entry, "delta": 1})
        return True
