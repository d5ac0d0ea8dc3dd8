"""Check that migrations don't break the previous release: docs/operations/migrations.md.

Every operation that isn't known to be harmless is rejected, unless the migration's attribute
`harmless_because` gives a reason.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connection, migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from runtime.database.concurrent_indexes import AddIndexConcurrently

HARMLESS = (
    migrations.CreateModel,
    migrations.AlterModelOptions,
    migrations.AlterModelManagers,
    migrations.RemoveIndex,
    migrations.RenameIndex,
    AddIndexConcurrently,
)
MIN_REASON_LENGTH = 20


def find_problems(migration: Any, state: ProjectState) -> Iterator[str]:
    """Yield the problems of a migration, and apply it to `state`."""
    reason = getattr(migration, "harmless_because", None)
    is_excused = isinstance(reason, str) and len(reason) >= MIN_REASON_LENGTH
    created = {
        operation.name_lower
        for operation in migration.operations
        if isinstance(operation, migrations.CreateModel)
    }
    for operation in migration.operations:
        problem = (
            "" if is_excused else _check_operation(operation, migration.app_label, state, created)
        )
        if problem:
            yield f"{migration.app_label}.{migration.name}: {operation.describe()}: {problem}"
        operation.state_forwards(migration.app_label, state)


def _check_operation(operation: Operation, app: str, state: ProjectState, created: set[str]) -> str:
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        problems = (
            _check_operation(inner, app, state, created) for inner in operation.database_operations
        )
        return next((problem for problem in problems if problem), "")
    if isinstance(operation, HARMLESS) or getattr(operation, "model_name_lower", None) in created:
        return ""
    if isinstance(operation, migrations.AddField):
        return _check_new_field(operation.field)
    if isinstance(operation, migrations.AlterField):
        before = state.models[app, operation.model_name_lower].fields[operation.name]
        return _check_altered_field(before, operation.field)
    if isinstance(operation, migrations.AddIndex):
        return "building the index blocks writes: use AddIndexConcurrently and atomic = False."
    return "it may break running code."


def _check_new_field(field: Any) -> str:
    if field.many_to_many:
        return ""
    if not field.null and not field.has_db_default():
        return "running code does not set it: use null=True or db_default."
    if field.db_index or field.unique:
        return "building its index blocks writes: use db_index=False and add the index separately."
    return ""


def _check_altered_field(before: Any, after: Any) -> str:
    if after.null < before.null:
        return "running code may write NULL."
    if (after.db_index, after.unique) != (before.db_index, before.unique):
        return "changing the index blocks writes: change it separately."
    if _type(before) != _type(after) and not _is_longer(before, after):
        return "PostgreSQL rewrites the whole table, and running code sends the old type."
    if before.has_db_default() and not after.has_db_default() and not after.null:
        return "running code may omit it."
    return ""


def _type(field: Any) -> Any:
    if field.is_relation:
        return field.remote_field.model
    return field.db_parameters(connection)


def _is_longer(before: Any, after: Any) -> bool:
    if type(before) is not type(after) or not isinstance(before, models.CharField):
        return False
    return after.max_length is None or after.max_length >= (before.max_length or 0)


def find_mismatches(release_models: Any) -> Iterator[str]:
    """Yield the columns that keep a release's models from writing to the existing tables."""
    with connection.cursor() as cursor:
        for model in release_models:
            table = model._meta.db_table
            columns = connection.introspection.get_table_description(cursor, table)
            existing = {column.name: column for column in columns}
            expected = {field.column for field in model._meta.local_concrete_fields}
            yield from (f"{table}.{name} does not exist." for name in expected - existing.keys())
            for column in existing.values():
                if column.name not in expected and not column.null_ok and column.default is None:
                    yield f"{table}.{column.name} is required."
            for field in model._meta.local_concrete_fields:
                if field.null and field.column in existing and not existing[field.column].null_ok:
                    yield f"{table}.{field.column} cannot be NULL."
