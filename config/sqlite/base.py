"""Django's SQLite backend, with one writer at a time inside a process.

SQLite waits for its write lock inside C, which stops every greenlet of a web worker. If the lock's
holder is another greenlet of that same worker, which had to wait for a socket in the middle of its
transaction, the two would wait for each other until the time-out. So writers of one process queue
on a lock that greenlets (and threads) can wait for, and only the first of them asks SQLite.
"""

import threading
from collections.abc import Callable
from typing import Any

from django.db.backends.sqlite3 import base

_writer = threading.RLock()
_READS = ("SELECT", "PRAGMA", "EXPLAIN", "SAVEPOINT", "RELEASE", "ROLLBACK")


class Cursor(base.SQLiteCursorWrapper):
    wrapper: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        return self._alone(super().execute, query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        return self._alone(super().executemany, query, param_list)

    def _alone(self, run: Callable[[str, Any], Any], query: str, params: Any) -> Any:
        if self.wrapper.holds_writer or query.lstrip()[:9].upper().startswith(_READS):
            return run(query, params)
        with _writer:
            return run(query, params)


class DatabaseWrapper(base.DatabaseWrapper):
    holds_writer = False

    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.wrapper = self
        return cursor

    def _start_transaction_under_autocommit(self) -> None:
        self._take_writer()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._leave_writer()
            raise

    def _commit(self) -> None:
        # A commit that fails leaves the transaction open: the rollback that follows leaves it.
        super()._commit()  # type: ignore[misc]
        self._leave_writer()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._leave_writer()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._leave_writer()

    def _take_writer(self) -> None:
        _writer.acquire()
        self.holds_writer = True

    def _leave_writer(self) -> None:
        if self.holds_writer:
            self.holds_writer = False
            _writer.release()
