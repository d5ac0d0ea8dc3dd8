"""Check the other servers' URLs, and keep commands that need a session away from PgBouncer."""

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


def check_servers(*, databases: Sequence[str] | None, **_: Any) -> list[CheckMessage]:
    urls = {"PGBOUNCER_URL": settings.PGBOUNCER, "REPLICA_URL": settings.REPLICA}
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    return [message for name, server in urls.items() if server for message in _check(name, server)]


def _check(name: str, server: dict[str, Any]) -> list[CheckMessage]:
    other = ConnectionHandler({DEFAULT_DB_ALIAS: server})[DEFAULT_DB_ALIAS]
    try:
        found, (checks_client,) = _fetch(other, _SERVER), _fetch(other, _CHECKS_CLIENT)
    except DatabaseError as error:
        return [CheckWarning(f"{name} can't be reached: {error}", id="runtime.W001")]
    finally:
        other.close()
    # Only the replica may be in recovery.
    compared = 2 if server is settings.REPLICA else 3
    if found[:compared] != _fetch(connections[DEFAULT_DB_ALIAS], _SERVER)[:compared]:
        return [Error(f"{name} and DATABASE_URL lead to two databases.", id="runtime.E001")]
    if not checks_client:
        return [
            CheckWarning(
                f"{name} leads to sessions without client_connection_check_interval, so a "
                "call that timed out can still be charged.",
                hint="Set it in PgBouncer's connect_query: docs/operations/pgbouncer.md.",
                id="runtime.W002",
            )
        ]
    return []


def _fetch(database: BaseDatabaseWrapper, query: str) -> tuple[Any, ...]:
    with database.cursor() as cursor:
        cursor.execute(query)
        row: tuple[Any, ...] = cursor.fetchone()
    return row
