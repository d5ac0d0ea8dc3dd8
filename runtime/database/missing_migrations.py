from importlib.util import find_spec
from pkgutil import iter_modules

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# Migrations of databases from before 2026-11-26. No later one may get their names.
_OBSOLETE = {("credits", "0002_plans_and_packs"), ("credits", "0003_plans_and_packs")}
OBSOLETE_DATABASE = (
    "The database was created before 2026-11-26, and this release can't read it. Start with an "
    "empty database."
)


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
