"""Is the database empty, from an obsolete release, or does it lack migrations?

Creating tables after a failed restore would hide it, and refuse every API key.
"""

from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# Migrations of databases from before 2026-11-26. No later one may get their names.
_OBSOLETE = {("credits", "0002_plans_and_packs"), ("credits", "0003_plans_and_packs")}
OBSOLETE_DATABASE = (
    "The database was created before 2026-11-26, and this release can't read it. Start with an "
    "empty database."
)


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


def is_obsolete(database: BaseDatabaseWrapper) -> bool:
    return not _OBSOLETE.isdisjoint(MigrationRecorder(database).applied_migrations())


def migration_names() -> set[tuple[str, str]]:
    """Return app and name without importing the migrations, which is slow."""
    names = set()
    for app in apps.get_app_configs():
        package, _ = MigrationLoader.migrations_module(app.label)
        spec = find_spec(package) if package else None
        for module in iter_modules(spec.submodule_search_locations if spec else ()):
            if not module.ispkg and module.name[0] not in "_~":
                names.add((app.label, module.name))
    return names


def has_missing_migrations(database: BaseDatabaseWrapper) -> bool:
    return not MigrationRecorder(database).applied_migrations().keys() >= migration_names()
