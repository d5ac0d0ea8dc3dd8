"""Django's own command, for a database that others use meanwhile: docs/operations.md.

On PostgreSQL a change that does not get its table at once is given up by the backend
(runtime/database/postgresql/base.py), so that calls do not queue behind it. Here it is tried again.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from runtime.database.empty_database import is_empty, what_to_do

TRIES, PAUSE_SECONDS = 60, 3
# Any number, the same for all who migrate this database.
NUMBER = 5_083_229_314
# SQLSTATE of a lock that did not come in time, and of one that never would have.
IN_USE = ("55P03", "40P01")
BUSY = 'A table is in use; trying again. Who holds it: docs/operations.md, "Migrations".'


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--new-database",
            action="store_true",
            help="create the tables of a new service; in production nothing else does",
        )

    def handle(self, *args: Any, new_database: bool = False, **options: Any) -> None:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql":
            _refuse_empty(connection, new_database)
            super().handle(*args, **options)
            return
        with self._alone(connection):
            # Only now: another machine may have created the tables while this one waited.
            _refuse_empty(connection, new_database)
            self._until_the_tables_are_free(*args, **options)

    def _until_the_tables_are_free(self, *args: Any, **options: Any) -> None:
        for _ in range(TRIES):
            try:
                super().handle(*args, **options)
                return
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", "") not in IN_USE:
                    raise
            self.stderr.write(BUSY)
            time.sleep(PAUSE_SECONDS)
        raise CommandError("A table stayed in use. Nothing of that migration was done.")

    @contextmanager
    def _alone(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Several machines may start at once. Asked again and again, since an index that is built
        CONCURRENTLY would wait for who waits inside a statement."""
        while not _asked(connection, "SELECT pg_try_advisory_lock(%s)"):
            self.stderr.write("Another process migrates this database; waiting for it.")
            time.sleep(PAUSE_SECONDS)
        try:
            yield
        finally:
            # With the connection, where it broke, the lock is gone too.
            if connection.is_usable():
                _asked(connection, "SELECT pg_advisory_unlock(%s)")


def _refuse_empty(connection: BaseDatabaseWrapper, new_database: bool) -> None:
    if settings.PRODUCTION and not new_database and is_empty(connection):
        raise CommandError(what_to_do())


def _asked(connection: BaseDatabaseWrapper, question: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(question, [NUMBER])
        return bool(cursor.fetchone()[0])
