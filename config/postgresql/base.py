"""Django's PostgreSQL backend, which in a web request waits only so long: config/patience.py.

A frozen machine, or a network that swallows packets, ends no connection: each request would wait
for it as long as that lasts. No setting of the server helps, for it is the server that is silent.
"""

from collections.abc import Sequence
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg import errors

from config.patience import database_seconds


class PatientConnection(psycopg.Connection[Any]):
    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or database_seconds.get())
        except errors._WaitTimeout:
            # What it was about to answer is unknown now: nobody may use it again.
            self.pgconn.finish()
            raise psycopg.OperationalError("The database did not answer in time.") from None


class PreparingCursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **how: Any) -> Any:
        return super().execute(query, params, **{**how, "prepare": True})


class DatabaseWrapper(base.DatabaseWrapper):
    def run_prepared(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Parsed and planned once a connection. Django's own cursors write the values into the
        text of each statement, and so PostgreSQL begins at the beginning every time."""
        self.ensure_connection()
        prepared: Any = super()._prepare_cursor(PreparingCursor(self.connection))  # type: ignore[misc]
        with prepared as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.pgresult.nfields else []

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        seconds = database_seconds.get()
        if self.pool and seconds is not None:
            # For a connection that is free, as long as for an answer: read as soon as it is set.
            self.pool.timeout = seconds
        return super().get_new_connection(conn_params)
