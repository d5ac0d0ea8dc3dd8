import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from runtime.database.missing_migrations import _names, has_missing_migrations


def test_names_are_those_that_django_loads() -> None:
    assert set(_names()) == MigrationLoader(None).disk_migrations.keys()


@pytest.mark.django_db
def test_migrated_database_misses_no_migration() -> None:
    assert not has_missing_migrations(connection)


@pytest.mark.django_db
def test_migration_that_was_not_recorded_is_missing() -> None:
    MigrationRecorder(connection).record_unapplied("credits", "0001_initial")
    assert has_missing_migrations(connection)


@pytest.mark.django_db
def test_migrations_of_a_newer_release_are_ignored() -> None:
    MigrationRecorder(connection).record_applied("credits", "9999_later")
    assert not has_missing_migrations(connection)
