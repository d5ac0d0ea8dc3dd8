"""Creating tables after a failed restore would hide it, and refuse every API key."""

from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder


def is_empty(database: BaseDatabaseWrapper = connection) -> bool:
    """Return whether no migration was applied. An unreadable database isn't empty."""
    # Connecting would create SQLite's file, which blocks a restore.
    if database.vendor == "sqlite" and not Path(database.settings_dict["NAME"]).exists():
        return True
    try:
        return not MigrationRecorder(database).applied_migrations()
    except DatabaseError:
        return False


def empty_database_message() -> str:
    if settings.PRODUCTION:
        return (
            "The database has no tables yet. Restore a backup (manage.py restore FILE), or create "
            "the tables of a new service (manage.py migrate --new-database)."
        )
    return "The database has no tables yet. Run manage.py migrate."
