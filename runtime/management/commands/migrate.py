"""Migrate while the database serves requests: docs/operations/migrations.md."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.core.management.sql import emit_post_migrate_signal
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from runtime.database.applied_migrations import (
    OBSOLETE_DATABASE,
    empty_database_message,
    has_missing_migrations,
    is_empty,
    is_obsolete,
)
from runtime.database.postgresql.pooler import require_session

MAX_ATTEMPTS, PAUSE_SECONDS = 60, 3
LOCK_ID = 5_083_229_314
# lock_not_available, deadlock_detected.
IN_USE = ("55P03", "40P01")
RETRYING = "A table is in use; trying again. To find out why: docs/operations/migrations.md."


class Command(migrate.Command):
    # The other checks import every view.
    requires_system_checks = [Tags.models, Tags.database]

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--new-database",
            action="store_true",
            help="create tables in an empty database; required in production",
        )
        parser.add_argument(
            "--if-missing",
            action="store_true",
            help="read the migrations only if the database misses one, as each start does",
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        connection = connections[options["database"]]
        if connection.vendor == "postgresql":
            require_session(connection)
        return super().execute(*args, **options)

    def handle(self, *args: Any, new_database: bool = False, **options: Any) -> None:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql":
            _refuse_empty(connection, new_database)
            self._migrate(*args, **options)
            return
        with self._advisory_lock(connection):
            # Another machine may have created the tables.
            _refuse_empty(connection, new_database)
            self._migrate_with_retries(*args, **options)

    def _migrate(self, *args: Any, if_missing: bool = False, **options: Any) -> None:
        connection = connections[options["database"]]
        if not if_missing or has_missing_migrations(connection):
            if is_obsolete(connection):
                raise CommandError(OBSOLETE_DATABASE)
            super().handle(*args, **options)
            return
        # A new release may have more permissions without a migration.
        emit_post_migrate_signal(options["verbosity"], options["interactive"], options["database"])

    def _migrate_with_retries(self, *args: Any, **options: Any) -> None:
        for _ in range(MAX_ATTEMPTS):
            try:
                self._migrate(*args, **options)
                return
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", "") not in IN_USE:
                    raise
            self.stderr.write(RETRYING)
            time.sleep(PAUSE_SECONDS)
        raise CommandError("A table stayed in use. That migration was not applied.")

    @contextmanager
    def _advisory_lock(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Let one machine migrate at a time.

        Poll: CREATE INDEX CONCURRENTLY would wait for a statement that blocks here.
        """
        while not _select_bool(connection, "SELECT pg_try_advisory_lock(%s)"):
            self.stderr.write("Another process is migrating this database; waiting for it.")
            time.sleep(PAUSE_SECONDS)
        try:
            yield
        finally:
            # A broken connection has released the lock.
            if connection.is_usable():
                _select_bool(connection, "SELECT pg_advisory_unlock(%s)")


def _refuse_empty(connection: BaseDatabaseWrapper, new_database: bool) -> None:
    if settings.PRODUCTION and not new_database and is_empty(connection):
        raise CommandError(empty_database_message())


def _select_bool(connection: BaseDatabaseWrapper, query: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(query, [LOCK_ID])
        return bool(cursor.fetchone()[0])
