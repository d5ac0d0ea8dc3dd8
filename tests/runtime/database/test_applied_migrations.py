import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from runtime.database.applied_migrations import has_missing_migrations, migration_names


def test_names_are_those_that_django_loads() -> None:
    assert migration_names() == MigrationLoader(None).disk_migrations.keys()


@pytest.mark.django_db
def test_only_migrations_of_this_release_are_missing() -> None:
    assert not has_missing_migrations(connection)
    MigrationRecorder(connection).record_applied("credits", "9999_later")
    assert not has_missing_migrations(connection)
    MigrationRecorder(connection).record_unapplied("credits", "0001_initial")
    assert has_missing_migrations(connection)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["0002_plans_and_packs", "0003_plans_and_packs"])
@pytest.mark.parametrize("options", [{}, {"if_missing": True}])
def test_database_of_replaced_migrations_is_refused(options: dict[str, bool], name: str) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("credits", name)
    for app, applied in migration_names() - {("credits", "0001_initial")}:
        recorder.record_unapplied(app, applied)
    with pytest.raises(CommandError, match=r"created before 2026-11-26.* empty database"):
        call_command("migrate", verbosity=0, **options)
    assert has_missing_migrations(connection)
