"""The previous release keeps working after every migration."""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from runtime.database.concurrent_indexes import AddIndexConcurrently
from tests.runtime.database.migration_rules import find_mismatches, find_problems

# The last migration of the previous release. Update these with each release.
RELEASED = {
    "runtime": "0001_initial",
    "accounts": "0002_append_only_audit_log",
    "apikeys": "0001_initial",
    "credits": "0003_catalog",
    "validation": "0002_partitions",
    "lists": "0001_initial",
}
RELEASED_NODES = list(RELEASED.items())


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def test_previous_release_keeps_working_after_new_migrations(loader: MigrationLoader) -> None:
    state = loader.project_state(RELEASED_NODES)
    released = {node for last in RELEASED_NODES for node in loader.graph.forwards_plan(last)}
    leaves = [node for node in loader.graph.leaf_nodes() if node[0] in RELEASED]
    newer = [node for leaf in leaves for node in loader.graph.forwards_plan(leaf)]
    problems: list[str] = []
    for node in dict.fromkeys(newer):
        if node not in released:
            problems += find_problems(loader.graph.nodes[node], state)
    assert problems == []


@pytest.mark.django_db
def test_tables_accept_rows_of_both_releases(
    loader: MigrationLoader,
) -> None:
    before = loader.project_state(RELEASED_NODES).apps
    for app in RELEASED:
        assert list(find_mismatches(before.get_app_config(app).get_models())) == []
        assert list(find_mismatches(apps.get_app_config(app).get_models())) == []


@pytest.mark.django_db
def test_mismatches_between_models_and_tables_are_listed() -> None:
    fields: list[Any] = [
        ("id", models.BigAutoField(primary_key=True)),
        ("other", models.TextField()),
        ("reason", models.TextField(null=True)),
    ]
    state = ProjectState()
    options = {"db_table": "validation_listeddomain"}
    migrations.CreateModel("Older", fields, options).state_forwards("accounts", state)
    assert sorted(find_mismatches(state.apps.get_models())) == [
        "validation_listeddomain.created_at is required.",
        "validation_listeddomain.domain is required.",
        "validation_listeddomain.kind is required.",
        "validation_listeddomain.other does not exist.",
        "validation_listeddomain.reason cannot be NULL.",
    ]


def check_operations(*operations: Any, **attributes: Any) -> list[str]:
    """Check a new migration with these operations, on a model that exists."""
    state = ProjectState()
    fields: list[Any] = [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=50)),
        ("note", models.TextField(null=True)),
        ("count", models.IntegerField(db_default=0)),
    ]
    migrations.CreateModel("Thing", fields).state_forwards("accounts", state)
    kind = type("Migration", (migrations.Migration,), {"operations": operations, **attributes})
    return list(find_problems(kind("0099_change", "accounts"), state))


def alter(name: str, kind: models.Field[Any, Any]) -> Any:
    return migrations.AlterField("thing", name, kind)


def add(kind: models.Field[Any, Any]) -> Any:
    return migrations.AddField("thing", "later", kind)


INDEX = models.Index(fields=["name"], name="thing_by_name")
CHECK = models.CheckConstraint(condition=models.Q(count__gte=0), name="count_is_positive")


@pytest.mark.parametrize(
    "operation",
    [
        migrations.CreateModel("Other", [("id", models.BigAutoField(primary_key=True))]),
        add(models.TextField(null=True)),
        add(models.IntegerField(db_default=1)),
        add(models.ForeignKey("accounts.thing", models.CASCADE, null=True, db_index=False)),
        alter("name", models.CharField(max_length=60)),
        alter("name", models.CharField(max_length=50, null=True)),
        alter("name", models.CharField(max_length=50, help_text="The name")),
        AddIndexConcurrently("thing", INDEX),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("thing", "note")]
        ),
    ],
)
def test_backward_compatible_operation_is_accepted(operation: Any) -> None:
    assert check_operations(operation) == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("thing", "note"),
        migrations.RenameField("thing", "note", "remark"),
        migrations.RenameModel("Thing", "Matter"),
        migrations.AlterModelTable("thing", "matters"),
        migrations.DeleteModel("Thing"),
        migrations.RunPython(migrations.RunPython.noop),
        migrations.RunSQL("DROP TABLE thing"),
        migrations.AddIndex("thing", INDEX),
        migrations.AddConstraint("thing", CHECK),
        add(models.TextField()),
        add(models.TextField(default="filled by Django alone")),
        add(models.TextField(null=True, unique=True)),
        add(models.ForeignKey("accounts.thing", models.CASCADE, null=True)),
        alter("name", models.CharField(max_length=40)),
        alter("name", models.CharField(max_length=50, unique=True)),
        alter("note", models.TextField()),
        alter("note", models.IntegerField(null=True)),
        alter("count", models.IntegerField()),
        migrations.SeparateDatabaseAndState([migrations.RunSQL("DROP TABLE thing")]),
    ],
)
def test_operation_that_breaks_running_code_needs_a_reason(
    operation: Any,
) -> None:
    assert len(check_operations(operation)) == 1
    assert len(check_operations(operation, harmless_because="yes")) == 1
    assert (
        check_operations(operation, harmless_because="The previous release does not read it.") == []
    )


def test_new_table_may_be_indexed_in_the_same_migration() -> None:
    create = migrations.CreateModel("Other", [("id", models.BigAutoField(primary_key=True))])
    assert check_operations(create, migrations.AddIndex("other", INDEX)) == []


@pytest.mark.usefixtures("fresh_database")
def test_concurrent_index_works_on_both_databases() -> None:
    before = MigrationLoader(connection).project_state()
    index = models.Index(fields=["reason"], name="listed_by_reason")
    operation = AddIndexConcurrently("ListedDomain", index)
    after = before.clone()
    operation.state_forwards("validation", after)
    model = apps.get_model("validation", "ListedDomain")
    editor: Any = connection.schema_editor(atomic=False)
    with editor:
        operation.database_forwards("validation", editor, before, after)
        assert "listed_by_reason" in get_index_names(model)
        operation.database_backwards("validation", editor, after, before)
    assert "listed_by_reason" not in get_index_names(model)


def get_index_names(model: Any) -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, model._meta.db_table))
