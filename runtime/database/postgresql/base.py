"""Django's PostgreSQL backend, with a time limit (timeouts.py) for queries of web requests.

A frozen machine, or a network that swallows packets, ends no connection: each request would wait
for it as long as that lasts. No setting of the server helps, for it is the server that is silent.
"""

import math
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import psycopg
from django.db import OperationalError
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from psycopg import errors
from psycopg_pool import PoolTimeout

from runtime.database.timeouts import (
    GREETING_SECONDS,
    MIGRATION_SECONDS,
    RETRY_SECONDS,
    database_seconds,
    serves_page,
)

# Whoever answered so short a time ago is asked nothing to see whether they are still there.
TRUSTED_SECONDS = 1.0
# Pages leave this part of the pool to the API: a quarter, and at least one connection.
API_SHARE = 4


class Silence(psycopg.OperationalError):
    """Another connection would be as silent."""


class PatientConnection(psycopg.Connection[Any]):
    heard_at = heard_of_any_at = missed_at = 0.0

    @classmethod
    def note_sign_of_life(cls) -> None:
        PatientConnection.heard_of_any_at = time.monotonic()

    @classmethod
    def note_silence(cls) -> None:
        PatientConnection.missed_at = time.monotonic()

    @classmethod
    def is_silent(cls) -> bool:
        """Returns whether no connection has heard anything for as long as a page waits for it."""
        return time.monotonic() - cls.heard_of_any_at > GREETING_SECONDS

    @classmethod
    def fail_if_silent(cls) -> None:
        """Raises if the database was silent a moment ago, so that not every request waits for it.
        The first request after that moment tries again."""
        if cls.missed_at <= cls.heard_of_any_at:
            return
        if time.monotonic() - cls.missed_at < RETRY_SECONDS:
            raise Silence("The database did not answer a moment ago.")
        cls.note_silence()

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            answer = super().wait(gen, interval, timeout or database_seconds.get())
        except errors._WaitTimeout:
            # What it was about to answer is unknown now: nobody may use it again.
            self.pgconn.finish()
            raise Silence("The database did not answer in time.") from None
        self.heard_at = PatientConnection.heard_of_any_at = time.monotonic()
        return answer

    def is_well(self) -> bool:
        # Who would wait long for an answer makes sure first that there will be one.
        is_patient = (database_seconds.get() or math.inf) > GREETING_SECONDS
        try:
            if not is_patient and time.monotonic() - self.heard_at < TRUSTED_SECONDS:
                # An end that has arrived already is seen without asking.
                self.pgconn.consume_input()
            else:
                self._greet()
        except Silence:
            self.note_silence()
            raise
        except psycopg.Error:
            return False
        return not self.closed

    def _greet(self) -> None:
        before = database_seconds.set(_greeting_seconds())
        try:
            self.execute("")
        finally:
            database_seconds.reset(before)


def _greeting_seconds() -> float:
    return min(GREETING_SECONDS, database_seconds.get() or GREETING_SECONDS)


class PreparingCursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **how: Any) -> Any:
        return super().execute(query, params, **{**how, "prepare": True})


class ConsiderateSchemaEditor(DatabaseSchemaEditor):
    def __enter__(self) -> "ConsiderateSchemaEditor":
        super().__enter__()
        # Outside a transaction an index is built CONCURRENTLY: it waits, and nobody behind it.
        if self.atomic_migration:
            self.execute(f"SET LOCAL lock_timeout = {MIGRATION_SECONDS * 1000:.0f}")
        return self


@cache
def _page_places(connections: int) -> threading.Semaphore:
    return threading.BoundedSemaphore(max(1, connections - max(1, connections // API_SHARE)))


def take_page_place(connections: int) -> threading.Semaphore:
    """Wait until a page may take one more of so many connections, as long as for a connection.

    However many people load pages or sign in, the API finds a connection.
    """
    places = _page_places(connections)
    waits_until = time.monotonic() + (database_seconds.get() or GREETING_SECONDS)
    while not places.acquire(timeout=_greeting_seconds()):
        if PatientConnection.is_silent() or time.monotonic() >= waits_until:
            raise PoolTimeout("All connections that pages may use are busy.")
    return places


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = ConsiderateSchemaEditor
    # Held together with a connection that is used for a page.
    _page_place: threading.Semaphore | None = None

    def run_prepared(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Parsed and planned once a connection. Django's own cursors write the values into the
        text of each statement, and so PostgreSQL begins at the beginning every time."""
        self.ensure_connection()
        prepared: Any = super()._prepare_cursor(PreparingCursor(self.connection))  # type: ignore[misc]
        with prepared as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.pgresult.nfields else []

    def answers(self) -> bool:
        """Whether it is there, and takes what is written to it. That the pool is busy, or that one
        of its connections is silent, says nothing of that: then a new one tells."""
        try:
            return self._can_be_written_to()
        except OperationalError:
            if not self.pool:
                raise
            can_be_written_to = self._without_pool()._can_be_written_to()
            # A caller who reads that the worker is ready may send requests now.
            PatientConnection.note_sign_of_life()
            return can_be_written_to

    def _without_pool(self) -> "DatabaseWrapper":
        alone: DatabaseWrapper = self.copy()
        del alone.settings_dict["OPTIONS"]["pool"]
        return alone

    def _can_be_written_to(self) -> bool:
        """A standby cannot."""
        try:
            with self.cursor() as cursor:
                cursor.execute("SHOW transaction_read_only")
                return bool(cursor.fetchone()[0] == "off")
        finally:
            self.close()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if not self.pool:
            return super().get_new_connection(conn_params)
        if not serves_page.get():
            return self._healthy_connection(conn_params)
        self._page_place = take_page_place(self.pool.max_size)
        try:
            return self._healthy_connection(conn_params)
        except BaseException:
            self._free_page_place()
            raise

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._free_page_place()

    def _free_page_place(self) -> None:
        place, self._page_place = self._page_place, None
        if place is not None:
            place.release()

    def _healthy_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = self._take(conn_params)
        while not self._is_well(connection):
            connection = self._take(conn_params)
        return connection

    def _take(self, conn_params: dict[str, Any]) -> Any:
        """One that is free. Those that are busy are waited for like an answer, those of a database
        that is silent are not."""
        PatientConnection.fail_if_silent()
        waits_until = time.monotonic() + (database_seconds.get() or GREETING_SECONDS)
        while True:
            # Read as soon as it is set.
            self.pool.timeout = min(_greeting_seconds(), max(0, waits_until - time.monotonic()))
            try:
                return super().get_new_connection(conn_params)
            except PoolTimeout:
                is_silent = PatientConnection.is_silent()
                if is_silent:
                    PatientConnection.note_silence()
                if is_silent or time.monotonic() >= waits_until:
                    raise

    def _is_well(self, connection: PatientConnection) -> bool:
        """One that died while it was idle, the pool throws away, and hands out another."""
        is_well = False
        try:
            is_well = connection.is_well()
        finally:
            if not is_well:
                self.pool.putconn(connection)
        return is_well
