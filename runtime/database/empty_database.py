"""Detect a database without tables, and tell the operator how to fill it.

In production only `manage.py migrate --new-database` creates tables in an empty database: after a
failed restore, a service that starts on empty tables would refuse every customer's key.
"""

from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder


def is_empty(database: BaseDatabaseWrapper = connection) -> bool:
    """Return whether no migration was ever applied. A database that can't be read isn't empty."""
    if _is_missing_file(database):
        return True
    try:
        return not MigrationRecorder(database).applied_migrations()
    except DatabaseError:
        return False


def _is_missing_file(database: BaseDatabaseWrapper) -> bool:
    """Check for SQLite's file before connecting, which would create it and so block a restore."""
    return database.vendor == "sqlite" and not Path(database.settings_dict["NAME"]).exists()


def empty_database_message() -> str:
    if settings.PRODUCTION:
        return (
            "The database has no tables yet. Restore a backup (manage.py restore FILE), or create "
            "the tables of a new service (manage.py migrate --new-database)."
        )
    return "The database has no tables yet. Run manage.py migrate."
