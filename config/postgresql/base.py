"""Django's PostgreSQL backend, which in a web request waits only so long: config/patience.py.

A frozen machine, or a network that swallows packets, ends no connection: each request would wait
for it as long as that lasts. No setting of the server helps, for it is the server that is silent.
"""

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


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        seconds = database_seconds.get()
        if self.pool and seconds is not None:
            # For a connection that is free, as long as for an answer: read as soon as it is set.
            self.pool.timeout = seconds
        return super().get_new_connection(conn_params)
