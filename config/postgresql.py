"""A connection to PostgreSQL that gives up on a server which does not answer.

A frozen machine, or a network that swallows packets, ends no connection: each request would wait
for it as long as that lasts. No setting of the server helps, for it is the server that is silent.
"""

from typing import Any

import psycopg
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
