"""What a migration may do while the code before it still runs: docs/operations.md, "Migrations".

What is not known to be harmless is refused. A migration that says in `harmless_because` why nothing
that runs minds may do anything.
"""

from collections.abc import Iterator
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import connection, migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

HARMLESS = (
    migrations.CreateModel,
    migrations.AlterModelOptions,
    migrations.AlterModelManagers,
    migrations.RemoveIndex,
    migrations.RenameIndex,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
LEAST_REASON = 20


def faults(migration: Any, state: ProjectState) -> Iterator[str]:
    """`state` is that before it; afterwards that behind it."""
    reason = getattr(migration, "harmless_because", None)
    excused = isinstance(reason, str) and len(reason) >= LEAST_REASON
    made = {one.name_lower for one in migration.operations if _is(one, migrations.CreateModel)}
    for operation in migration.operations:
        fault = "" if excused else _fault(operation, migration.app_label, state, made)
        if fault:
            yield f"{migration.app_label}.{migration.name}: {operation.describe()}: {fault}"
        operation.state_forwards(migration.app_label, state)


def _fault(operation: Operation, app: str, state: ProjectState, made: set[str]) -> str:
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        inner = (_fault(one, app, state, made) for one in operation.database_operations)
        return next((fault for fault in inner if fault), "")
    if isinstance(operation, HARMLESS) or getattr(operation, "model_name_lower", None) in made:
        return ""
    if isinstance(operation, migrations.AddField):
        return _fault_of_new(operation.field)
    if isinstance(operation, migrations.AlterField):
        before = state.models[app, operation.model_name_lower].fields[operation.name]
        return _fault_of_altered(before, operation.field)
    if isinstance(operation, migrations.AddIndex):
        return "nobody can write while it is built: AddIndexConcurrently, and atomic = False."
    return "code that still runs may not survive it."


def _fault_of_new(field: Any) -> str:
    if field.many_to_many:
        return ""
    if not field.null and not field.has_db_default():
        return "code that still runs does not fill it: null=True or db_default."
    if field.db_index or field.unique:
        return "nobody can write while its index is built: db_index=False, then the index apart."
    return ""


def _fault_of_altered(before: Any, after: Any) -> str:
    if after.null < before.null:
        return "code that still runs may write NULL."
    if (after.db_index, after.unique) != (before.db_index, before.unique):
        return "nobody can write while an index changes: change that apart."
    if _type(before) != _type(after) and not _is_longer(before, after):
        return (
            "PostgreSQL writes the whole table anew, and code that still runs sends the old type."
        )
    if before.has_db_default() and not after.has_db_default() and not after.null:
        return "code that still runs may leave it out."
    return ""


def _type(field: Any) -> Any:
    if field.is_relation:
        return field.remote_field.model
    return field.db_parameters(connection)


def _is_longer(before: Any, after: Any) -> bool:
    if type(before) is not type(after) or not isinstance(before, models.CharField):
        return False
    return after.max_length is None or after.max_length >= (before.max_length or 0)


def _is(operation: Operation, kind: type[Operation]) -> bool:
    return isinstance(operation, kind)


def strangers(models_of_code: Any) -> Iterator[str]:
    """Where these models, of whatever release, cannot write to the tables that are there."""
    with connection.cursor() as cursor:
        for model in models_of_code:
            table = model._meta.db_table
            columns = connection.introspection.get_table_description(cursor, table)
            there = {column.name: column for column in columns}
            known = {field.column for field in model._meta.local_concrete_fields}
            yield from (f"{table}.{name} is not there." for name in known - there.keys())
            for column in there.values():
                if column.name not in known and not column.null_ok and column.default is None:
                    yield f"{table}.{column.name} cannot be left out."
            for field in model._meta.local_concrete_fields:
                if field.null and field.column in there and not there[field.column].null_ok:
                    yield f"{table}.{field.column} cannot be NULL."
