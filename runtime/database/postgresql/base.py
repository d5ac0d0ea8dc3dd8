"""Django's PostgreSQL backend, with time limits for queries of web requests (timeouts.py).

A frozen server, or a network that drops packets, doesn't close connections: without a limit, each
request would wait for the whole outage. tests/operations/test_database_outage.py shows what neither
the server, libpq nor psycopg's pool can do instead:

- statement_timeout needs a server that responds, and tcp_user_timeout and keepalives expire only
  without a network: the kernel of a frozen server still acknowledges packets;
- the pool's `check` callback sleeps for a second after each broken connection, most of what an API
  request may take, and lets every request try a frozen server again.

Hand-written statements are prepared, which Django doesn't do: it saves a third of PostgreSQL's time
for a key (docs/performance.md).
"""

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

import psycopg
from django.db import OperationalError
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from psycopg import errors
from psycopg.abc import RV, Params, PQGen
from psycopg.rows import TupleRow
from psycopg_pool import PoolTimeout

from runtime.database.timeouts import (
    LIVENESS_TIMEOUT,
    MIGRATION_LOCK_TIMEOUT,
    RETRY_SECONDS,
    is_page_request,
    query_timeout,
)

# A connection that replied this recently is used without a liveness check.
TRUSTED_SECONDS = 1.0
# One in this many of the pool's connections, and at least one, is reserved for the API.
API_SHARE = 4


class DatabaseNotResponding(psycopg.OperationalError):
    """The server doesn't reply. Another connection would wait just as long."""


class TimeoutConnection(psycopg.Connection[TupleRow]):
    """A connection whose queries end after `query_timeout`."""

    last_reply_at = 0.0
    # Shared by all connections of the process, so always set on this class.
    last_reply_to_any_at = not_responding_at = 0.0

    @classmethod
    def record_reply(cls) -> None:
        TimeoutConnection.last_reply_to_any_at = time.monotonic()

    @classmethod
    def record_timeout(cls) -> None:
        TimeoutConnection.not_responding_at = time.monotonic()

    @classmethod
    def is_not_responding(cls) -> bool:
        """Return whether no connection has had a reply for LIVENESS_TIMEOUT seconds."""
        return time.monotonic() - cls.last_reply_to_any_at > LIVENESS_TIMEOUT

    @classmethod
    def fail_if_not_responding(cls) -> None:
        """Raise an error if the database didn't respond a moment ago.

        Otherwise every request would wait for it. After RETRY_SECONDS, one request tries again.
        """
        if cls.not_responding_at <= cls.last_reply_to_any_at:
            return
        if time.monotonic() - cls.not_responding_at < RETRY_SECONDS:
            raise DatabaseNotResponding("The database did not respond a moment ago.")
        cls.record_timeout()

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        try:
            reply = super().wait(gen, interval, timeout or query_timeout.get())
        except errors._WaitTimeout:
            # The reply may still arrive: the connection's state is unknown, so it can't be reused.
            self.pgconn.finish()
            raise DatabaseNotResponding("The database did not respond in time.") from None
        self.last_reply_at = TimeoutConnection.last_reply_to_any_at = time.monotonic()
        return reply

    def is_healthy(self) -> bool:
        # A request with a long time limit checks first, so it notices a dead server early.
        has_long_timeout = (query_timeout.get() or math.inf) > LIVENESS_TIMEOUT
        try:
            if not has_long_timeout and time.monotonic() - self.last_reply_at < TRUSTED_SECONDS:
                # Notices without a round trip if the server has closed the connection.
                self.pgconn.consume_input()
            else:
                self._check_liveness()
        except DatabaseNotResponding:
            self.record_timeout()
            raise
        except psycopg.Error:
            return False
        return not self.closed

    def _check_liveness(self) -> None:
        token = query_timeout.set(_liveness_timeout())
        try:
            self.execute("")
        finally:
            query_timeout.reset(token)


def _liveness_timeout() -> float:
    return min(LIVENESS_TIMEOUT, query_timeout.get() or LIVENESS_TIMEOUT)


class LastUsedFirst(deque[TimeoutConnection]):
    """The free connections of a pool, which hands out the one that was returned last.

    psycopg's pool uses all of its connections in turn. Each is a process of the server, and one
    that has just worked still has its plans in the CPU's cache: a metered call takes a sixth less
    of PostgreSQL's time (docs/performance.md). It also needs no liveness check.
    """

    def popleft(self) -> TimeoutConnection:
        return self.pop()


class PreparingCursor(psycopg.Cursor[TupleRow]):
    def execute(self, query: Any, params: Params | None = None, **options: Any) -> Self:
        return super().execute(query, params, **{**options, "prepare": True})


class LockTimeoutSchemaEditor(DatabaseSchemaEditor):
    """Give up on a table lock that a migration doesn't get in time: queries queue behind it."""

    def __enter__(self) -> "LockTimeoutSchemaEditor":
        super().__enter__()
        # Outside a transaction, an index is built CONCURRENTLY: it waits without blocking queries.
        if self.atomic_migration:
            self.execute(f"SET LOCAL lock_timeout = {MIGRATION_LOCK_TIMEOUT * 1000:.0f}")
        return self


@cache
def _page_slots(connections: int) -> threading.Semaphore:
    return threading.BoundedSemaphore(max(1, connections - max(1, connections // API_SHARE)))


def acquire_page_slot(connections: int) -> threading.Semaphore:
    """Wait until pages use fewer than their share of the connections; return what to release.

    However many people load pages or sign in, API requests find a free connection.
    """
    slots = _page_slots(connections)
    deadline = time.monotonic() + (query_timeout.get() or LIVENESS_TIMEOUT)
    while not slots.acquire(timeout=_liveness_timeout()):
        if TimeoutConnection.is_not_responding() or time.monotonic() >= deadline:
            raise PoolTimeout("All connections that pages may use are busy.")
    return slots


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = LockTimeoutSchemaEditor
    # Held as long as a page uses a connection.
    _page_slot: threading.Semaphore | None = None

    @property
    def pool(self) -> Any:
        pool = super().pool
        if pool is not None and not isinstance(pool._pool, LastUsedFirst):
            pool._pool = LastUsedFirst(pool._pool)
        return pool

    def run_prepared(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Execute a statement that PostgreSQL parses and plans once per connection.

        Django's own cursors interpolate the values into the text, so PostgreSQL would parse and
        plan it every time.
        """
        self.ensure_connection()
        wrap = self.make_debug_cursor if self.queries_logged else self.make_cursor
        prepared: Any = PreparingCursor(self.connection)
        with wrap(prepared) as cursor:
            cursor.execute(statement, values)
            # psycopg has all rows by now, so no error needs Django's wrapper.
            return prepared.fetchall() if prepared.pgresult.nfields else []

    def _set_autocommit(self, autocommit: bool) -> None:
        """Leave a pooled connection as it is: psycopg would lock it and run its wait loop."""
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]

    def is_available(self) -> bool:
        """Return whether the database accepts writes.

        If that fails because the pool is busy, or because one of its connections doesn't respond,
        check with a new connection.
        """
        try:
            return self._is_writable()
        except OperationalError:
            if not self.pool:
                raise
            is_writable = self._without_pool()._is_writable()
            # A load balancer that sees this worker ready may send requests immediately.
            TimeoutConnection.record_reply()
            return is_writable

    def _without_pool(self) -> "DatabaseWrapper":
        wrapper: DatabaseWrapper = self.copy()
        del wrapper.settings_dict["OPTIONS"]["pool"]
        return wrapper

    def _is_writable(self) -> bool:
        """Return False for a standby server."""
        try:
            with self.cursor() as cursor:
                cursor.execute("SHOW transaction_read_only")
                return bool(cursor.fetchone()[0] == "off")
        finally:
            self.close()

    def get_new_connection(self, conn_params: dict[str, object]) -> psycopg.Connection[TupleRow]:
        if not self.pool:
            unpooled: psycopg.Connection[TupleRow] = super().get_new_connection(conn_params)
            return unpooled
        if not is_page_request.get():
            return self._get_healthy_connection(conn_params)
        self._page_slot = acquire_page_slot(self.pool.max_size)
        try:
            return self._get_healthy_connection(conn_params)
        except BaseException:
            self._release_page_slot()
            raise

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._release_page_slot()

    def _release_page_slot(self) -> None:
        slot, self._page_slot = self._page_slot, None
        if slot is not None:
            slot.release()

    def _get_healthy_connection(self, conn_params: dict[str, object]) -> TimeoutConnection:
        connection = self._get_from_pool(conn_params)
        while not self._is_healthy(connection):
            connection = self._get_from_pool(conn_params)
        return connection

    def _get_from_pool(self, conn_params: dict[str, object]) -> TimeoutConnection:
        """Wait for a free connection for as long as for a query.

        If the database doesn't respond, fail earlier.
        """
        TimeoutConnection.fail_if_not_responding()
        deadline = time.monotonic() + (query_timeout.get() or LIVENESS_TIMEOUT)
        while True:
            # Greenlets share the pool: none may run before the pool has read its timeout.
            self.pool.timeout = min(_liveness_timeout(), max(0, deadline - time.monotonic()))
            try:
                connection: TimeoutConnection = super().get_new_connection(conn_params)
                return connection
            except PoolTimeout:
                is_not_responding = TimeoutConnection.is_not_responding()
                if is_not_responding:
                    TimeoutConnection.record_timeout()
                if is_not_responding or time.monotonic() >= deadline:
                    raise

    def _is_healthy(self, connection: TimeoutConnection) -> bool:
        """Check a connection; hand it back to the pool, which replaces it, if it's broken."""
        is_healthy = False
        try:
            is_healthy = connection.is_healthy()
        finally:
            if not is_healthy:
                self.pool.putconn(connection)
        return is_healthy
