"""Extend Django's PostgreSQL backend with time limits for web requests.

A frozen server's kernel still acknowledges packets, so neither statement_timeout nor keepalives end
a query. The pool's `check` sleeps for a second after a broken connection. Preparing a hand-written
statement saves a third of a call's CPU.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from psycopg import errors
from psycopg.abc import RV, Params, PQGen
from psycopg.rows import TupleRow
from psycopg_pool import PoolTimeout

from runtime.database.account_slots import MAX_WAIT_SECONDS, AccountBusy, find_slots
from runtime.database.timeouts import (
    LIVENESS_TIMEOUT,
    MIGRATION_LOCK_TIMEOUT,
    RETRY_SECONDS,
    query_timeout,
)

# A reply this recent saves a liveness check.
TRUSTED_SECONDS = 1.0


class DatabaseNotResponding(psycopg.OperationalError):
    """Raised if the server doesn't reply. Another connection wouldn't help."""


class TimeoutConnection(psycopg.Connection[TupleRow]):
    last_reply_at = 0.0
    # Always set on the class: all connections to a server share it.
    last_reply_to_any_at = not_responding_at = 0.0

    @classmethod
    def record_timeout(cls) -> None:
        cls.not_responding_at = time.monotonic()

    @classmethod
    def is_not_responding(cls) -> bool:
        return time.monotonic() - cls.last_reply_to_any_at > LIVENESS_TIMEOUT

    @classmethod
    def fail_if_not_responding(cls) -> None:
        """Fail fast while the database is silent. Every RETRY_SECONDS, one request tries."""
        if cls.not_responding_at <= cls.last_reply_to_any_at:
            return
        if time.monotonic() - cls.not_responding_at < RETRY_SECONDS:
            raise DatabaseNotResponding("The database did not respond a moment ago.")
        cls.record_timeout()

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        try:
            reply = super().wait(gen, interval, timeout or query_timeout.get())
        except errors._WaitTimeout:
            # The reply may still arrive: the connection can't be reused.
            self.pgconn.finish()
            raise DatabaseNotResponding("The database did not respond in time.") from None
        self.last_reply_at = type(self).last_reply_to_any_at = time.monotonic()
        return reply

    def is_healthy(self) -> bool:
        # With a long time limit, check first to notice a dead server early.
        has_long_timeout = (query_timeout.get() or math.inf) > LIVENESS_TIMEOUT
        try:
            if not has_long_timeout and time.monotonic() - self.last_reply_at < TRUSTED_SECONDS:
                # Detects a closed connection without a round trip.
                self.pgconn.consume_input()
            else:
                token = query_timeout.set(_liveness_timeout())
                try:
                    self.execute("")
                finally:
                    query_timeout.reset(token)
        except DatabaseNotResponding:
            self.record_timeout()
            raise
        except psycopg.Error:
            return False
        return not self.closed


class ReplicaConnection(TimeoutConnection):
    """Keep the replies of the replica apart: they say nothing about the primary."""

    last_reply_to_any_at = not_responding_at = 0.0


def _liveness_timeout() -> float:
    return min(LIVENESS_TIMEOUT, query_timeout.get() or LIVENESS_TIMEOUT)


class LastUsedFirst(deque[TimeoutConnection]):
    """Let a pool hand out the connection that was returned last.

    psycopg's pool uses all in turn. The plans of a server process that has just worked are still in
    the CPU's cache, which saves a sixth of PostgreSQL's time for a metered call.
    """

    def popleft(self) -> TimeoutConnection:
        return self.pop()


class PreparingCursor(psycopg.Cursor[TupleRow]):
    def execute(self, query: Any, params: Params | None = None, **options: Any) -> Self:
        return super().execute(query, params, **{**options, "prepare": True})


class LockTimeoutSchemaEditor(DatabaseSchemaEditor):
    """Give up on a migration's table lock: queries queue behind it."""

    def __enter__(self) -> "LockTimeoutSchemaEditor":
        super().__enter__()
        # CREATE INDEX CONCURRENTLY runs outside a transaction and doesn't block queries.
        if self.atomic_migration:
            self.execute(f"SET LOCAL lock_timeout = {MIGRATION_LOCK_TIMEOUT * 1000:.0f}")
        return self


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = LockTimeoutSchemaEditor
    # The account's, held while the request has a connection.
    _held_slots: tuple[threading.Semaphore, ...] = ()

    @property
    def pool(self) -> Any:
        pool = super().pool
        if pool is not None and not isinstance(pool._pool, LastUsedFirst):
            pool._pool = LastUsedFirst(pool._pool)
        return pool

    def _set_autocommit(self, autocommit: bool) -> None:
        # Setting it again would lock the connection and run psycopg's wait loop.
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]

    def run_prepared(self, statement: str, values: Sequence[Any]) -> list[Any]:
        self.ensure_connection()
        wrap = self.make_debug_cursor if self.queries_logged else self.make_cursor
        prepared: Any = PreparingCursor(self.connection)
        with wrap(prepared) as cursor:
            cursor.execute(statement, values)
            # psycopg has fetched all rows, so no error needs Django's wrapper.
            return prepared.fetchall() if prepared.pgresult.nfields else []

    def is_available(self) -> bool:
        """Return whether the database accepts writes.

        Pooled connections may be busy or broken, so a new one is used.
        """
        wrapper: DatabaseWrapper = self.copy()
        wrapper.settings_dict["OPTIONS"].pop("pool", None)
        try:
            with wrapper.cursor() as cursor:
                cursor.execute("SHOW transaction_read_only")
                is_writable: bool = cursor.fetchone()[0] == "off"
        finally:
            wrapper.close()
        # Otherwise, requests to this ready worker would fail fast.
        TimeoutConnection.last_reply_to_any_at = time.monotonic()
        return is_writable

    def get_new_connection(self, conn_params: dict[str, object]) -> psycopg.Connection[TupleRow]:
        if not self.pool:
            unpooled: psycopg.Connection[TupleRow] = super().get_new_connection(conn_params)
            return unpooled
        try:
            connection = self._get_from_pool(conn_params)
            while not self._is_healthy(connection):
                connection = self._get_from_pool(conn_params)
            return connection
        except BaseException:
            self._release_slots()
            raise

    def connect_for_account(self, account_id: int) -> None:
        """Take an account's slot until close(), waiting without a connection."""
        slots = find_slots(account_id, self.pool.max_size)
        if not slots.acquire(blocking=False):
            self.close()
            if not slots.acquire(timeout=MAX_WAIT_SECONDS):
                raise AccountBusy
        self._held_slots += (slots,)
        # Without a connection, Django wouldn't call close().
        self.ensure_connection()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._release_slots()

    def _release_slots(self) -> None:
        held, self._held_slots = self._held_slots, ()
        for slot in held:
            slot.release()

    def _get_from_pool(self, conn_params: dict[str, object]) -> TimeoutConnection:
        server: type[TimeoutConnection] = self.settings_dict["OPTIONS"]["pool"]["connection_class"]
        server.fail_if_not_responding()
        deadline = time.monotonic() + (query_timeout.get() or LIVENESS_TIMEOUT)
        while True:
            # Greenlets share the pool: none may run before it reads this.
            self.pool.timeout = min(_liveness_timeout(), max(0, deadline - time.monotonic()))
            try:
                connection: TimeoutConnection = super().get_new_connection(conn_params)
                return connection
            except PoolTimeout:
                is_not_responding = server.is_not_responding()
                if is_not_responding:
                    server.record_timeout()
                if is_not_responding or time.monotonic() >= deadline:
                    raise

    def _is_healthy(self, connection: TimeoutConnection) -> bool:
        is_healthy = False
        try:
            is_healthy = connection.is_healthy()
        finally:
            if not is_healthy:
                self.pool.putconn(connection)
        return is_healthy
