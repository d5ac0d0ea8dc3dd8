"""Keep commands that need a session away from PgBouncer: others share its sessions."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as CheckWarning
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db import Error as DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

NEEDS_SESSION = (
    "DATABASE_URL leads to a connection pooler, but this command needs a session of PostgreSQL. "
    "Set DATABASE_URL to PostgreSQL itself, and PGBOUNCER_URL to the pooler."
)
# Replicas have the same identifier. A standby is in recovery.
_SERVER = """SELECT system_identifier, current_database(), pg_is_in_recovery()
FROM pg_control_system()"""
_CHECKS_CLIENT = "SELECT current_setting('client_connection_check_interval') <> '0'"


def require_session(database: BaseDatabaseWrapper) -> None:
    """A pooler reports another process id than the session's."""
    try:
        database.ensure_connection()
    except DatabaseError as error:
        # PgBouncer's message, unless it ignores our options.
        if "unsupported startup parameter" in str(error):
            raise CommandError(NEEDS_SESSION) from None
        raise
    connection: Any = database.connection
    if connection.info.backend_pid != _fetch(database, "SELECT pg_backend_pid()")[0]:
        raise CommandError(NEEDS_SESSION)


def check_pgbouncer(*, databases: Sequence[str] | None, **_: Any) -> list[CheckMessage]:
    if not settings.PGBOUNCER or DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    pgbouncer = ConnectionHandler({DEFAULT_DB_ALIAS: settings.PGBOUNCER})[DEFAULT_DB_ALIAS]
    try:
        server, (checks_client,) = _fetch(pgbouncer, _SERVER), _fetch(pgbouncer, _CHECKS_CLIENT)
    except DatabaseError as error:
        return [CheckWarning(f"PGBOUNCER_URL can't be reached: {error}", id="runtime.W001")]
    finally:
        pgbouncer.close()
    if server != _fetch(connections[DEFAULT_DB_ALIAS], _SERVER):
        return [Error("PGBOUNCER_URL and DATABASE_URL lead to two databases.", id="runtime.E001")]
    if not checks_client:
        return [
            CheckWarning(
                "PGBOUNCER_URL leads to sessions without client_connection_check_interval, so a "
                "call that timed out can still be charged.",
                hint="Set it in PgBouncer's connect_query: docs/operations/growing.md.",
                id="runtime.W002",
            )
        ]
    return []


def _fetch(database: BaseDatabaseWrapper, query: str) -> tuple[Any, ...]:
    with database.cursor() as cursor:
        cursor.execute(query)
        row: tuple[Any, ...] = cursor.fetchone()
    return row
