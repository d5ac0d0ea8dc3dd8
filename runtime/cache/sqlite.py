"""SQLite backends for the cache and counters that all processes of one machine share.

Django's memory and database caches lose counts when several processes increment concurrently; here
each operation is one atomic statement. The data is short-lived, so writes don't wait for the disk.
If several machines serve the product, they share Redis instead: runtime/cache/redis.py.
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
# An entry with a write time in the future was written before the clock was set back. It is ignored:
# it would expire too late, and a lockout it holds would last as long.
_IS_LIVE = "(expires IS NULL OR expires > :now) AND written <= :now + 60"
_SET = """
    INSERT INTO kept VALUES (:key, :value, :now, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, written = excluded.written, expires = excluded.expires
"""
# Replaces only an entry that has expired.
_ADD = f"{_SET} WHERE kept.expires <= :now OR kept.written > :now + 60"
_INCREMENT = f"""
    UPDATE kept SET value = CAST(value AS INTEGER) + :delta
    WHERE key = :key AND {_IS_LIVE} RETURNING value
"""  # noqa: S608 - constants only
_GET = f"SELECT value FROM kept WHERE key = :key AND {_IS_LIVE}"  # noqa: S608
_TOUCH = f"UPDATE kept SET expires = :expires WHERE key = :key AND {_IS_LIVE}"  # noqa: S608
_SWEEP = f"DELETE FROM kept WHERE NOT ({_IS_LIVE})"  # noqa: S608
# Creates or increments a counter in one statement. The first increment sets its expiry.
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
_FILE_CHECK_SECONDS = 1
_BUSY_TIMEOUT = 5.0


class _Store:
    """Share one connection between all threads and greenlets of a process."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self._connection = _open_or_recreate(path, busy_timeout)
        self._lock = threading.Lock()
        self._swept_at = self._file_checked_at = time.monotonic()
        self._path, self._inode = path, _inode(path)

    def is_current(self) -> bool:
        """Return False if the file was removed: other processes may use a new one by now."""
        if time.monotonic() - self._file_checked_at < _FILE_CHECK_SECONDS:
            return True
        self._file_checked_at = time.monotonic()
        return _inode(self._path) == self._inode

    def run(self, statement: str, values: dict[str, Any]) -> tuple[int, list[Any]]:
        """Execute a statement; return the number of changed rows, and the rows it returned."""
        now = time.time()
        with self._lock:
            if time.monotonic() - self._swept_at > _SWEEP_SECONDS:
                self._swept_at = time.monotonic()
                self._connection.execute(_SWEEP, {"now": now})
            cursor = self._connection.execute(statement, {**values, "now": now})
            rows = cursor.fetchall()
            return cursor.rowcount, rows


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


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
    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._path = location
        options = params.get("OPTIONS", {})
        self._busy_timeout = float(options.get("busy_timeout", _BUSY_TIMEOUT))

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        entry = self._entry(key, timeout, version)
        return self._run(_ADD, **entry, value=json.dumps(value))[0] == 1

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        _, rows = self._run(_GET, key=self._key(key, version))
        return json.loads(rows[0][0]) if rows else default

    def set(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._run(_SET, **self._entry(key, timeout, version), value=json.dumps(value))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        _, rows = self._run(_INCREMENT, key=self._key(key, version), delta=delta)
        if not rows:
            raise ValueError(f"Key '{key}' not found")
        return int(rows[0][0])

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._run(_TOUCH, **self._entry(key, timeout, version))[0] == 1

    def delete(self, key: str, version: int | None = None) -> bool:
        changed, _ = self._run("DELETE FROM kept WHERE key = :key", key=self._key(key, version))
        return changed == 1

    def clear(self) -> None:
        self._run("DELETE FROM kept")

    def _key(self, key: str, version: int | None) -> str:
        return self.make_and_validate_key(key, version=version)

    def _entry(self, key: str, timeout: Any, version: int | None = None) -> dict[str, Any]:
        return {"key": self._key(key, version), "expires": self.get_backend_timeout(timeout)}

    def _run(self, statement: str, **values: Any) -> tuple[int, list[Any]]:
        try:
            if not self._store().is_current():
                _store.cache_clear()
            return self._store().run(statement, values)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
                # The file is corrupt or gone: the next call opens it again.
                _store.cache_clear()
            raise

    def _store(self) -> _Store:
        return _store(self._path, self._busy_timeout, os.getpid())


class SQLiteCounters(SQLiteCache):
    """Count in one statement instead of the cache's two.

    add() does nothing, because incr() creates a counter that doesn't exist.
    """

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return False

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        _, rows = self._run(_COUNT, **self._entry(key, DEFAULT_TIMEOUT, version), delta=delta)
        return int(rows[0][0])

    def is_healthy(self) -> bool:
        """Increment a counter, as a request does.

        The busy timeout is 0, because waiting inside SQLite would block the whole worker.
        """
        entry = self._entry("is-well", DEFAULT_TIMEOUT)
        _Store(Path(self._path), 0).run(_COUNT, {**entry, "delta": 1})
        return True
