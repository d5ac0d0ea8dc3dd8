"""Keep a migrated SQLite database between test runs, because creating one takes seconds."""

import fcntl
import shutil
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import django
from django.apps import apps
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import setup_databases

from tests.servers.product import ROOT

TEMPLATES = ROOT / ".pytest_cache" / "migrated-database"


def create_test_database() -> list[tuple[BaseDatabaseWrapper, str, bool]]:
    """Create the test database, on SQLite from the template."""
    if connection.vendor != "sqlite":
        return _set_up(keepdb=False)
    template = TEMPLATES / f"{_hash_migrations()}.sqlite3"
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    with (TEMPLATES / "lock").open("w") as lock:
        # Other workers of the same run wait for this one.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            created = _set_up(keepdb=True)
            _store(template)
            return created
    shutil.copy(template, connection.settings_dict["TEST"]["NAME"])
    # With `keepdb`, Django adds what the template doesn't have, such as permissions for new models.
    return _set_up(keepdb=True)


def _set_up(*, keepdb: bool) -> list[tuple[BaseDatabaseWrapper, str, bool]]:
    return setup_databases(0, interactive=False, keepdb=keepdb, serialized_aliases=[])


def _hash_migrations() -> str:
    """Return a digest of all migrations, so that a changed one is applied to a new database."""
    digest = sha256(django.__version__.encode())
    for app in apps.get_app_configs():
        for file in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _store(template: Path) -> None:
    """Replace the templates of earlier migrations by a copy of the test database."""
    for old in TEMPLATES.glob("*.sqlite3"):
        if old != template:
            old.unlink(missing_ok=True)
    unfinished = template.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    connection.ensure_connection()
    with closing(sqlite3.connect(unfinished)) as target:
        connection.connection.backup(target)
    unfinished.replace(template)
