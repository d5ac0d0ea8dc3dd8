"""Every migration is one that the code before it survives."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from tests.runtime.database.migration_rules import faults, strangers

# The newest migration of the release that runs everywhere. Moved on with each release.
RELEASED = {
    "runtime": "0001_initial",
    "accounts": "0002_append_only_audit_log",
    "apikeys": "0001_initial",
    "credits": "0003_append_only_ledger",
    "validation": "0001_initial",
}
OURS = list(RELEASED.items())


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def test_what_came_since_the_last_release_is_survived_by_it(loader: MigrationLoader) -> None:
    state = loader.project_state(OURS)
    released = {node for one in OURS for node in loader.graph.forwards_plan(one)}
    leaves = [node for node in loader.graph.leaf_nodes() if node[0] in RELEASED]
    newer = [node for leaf in leaves for node in loader.graph.forwards_plan(leaf)]
    found: list[str] = []
    for node in dict.fromkeys(newer):
        if node not in released:
            found += faults(loader.graph.nodes[node], state)
    assert found == []


@pytest.mark.django_db
def test_the_tables_take_what_the_last_release_and_this_one_write(loader: MigrationLoader) -> None:
    before = loader.project_state(OURS).apps
    for one in RELEASED:
        assert list(strangers(before.get_app_config(one).get_models())) == []
        assert list(strangers(apps.get_app_config(one).get_models())) == []


@pytest.mark.django_db
def test_tables_that_do_not_fit_the_code_are_named() -> None:
    fields: list[Any] = [
        ("id", models.BigAutoField(primary_key=True)),
        ("other", models.TextField()),
        ("reason", models.TextField(null=True)),
    ]
    state = ProjectState()
    options = {"db_table": "validation_listeddomain"}
    migrations.CreateModel("Older", fields, options).state_forwards("accounts", state)
    assert sorted(strangers(state.apps.get_models())) == [
        "validation_listeddomain.created_at cannot be left out.",
        "validation_listeddomain.domain cannot be left out.",
        "validation_listeddomain.kind cannot be left out.",
        "validation_listeddomain.other is not there.",
        "validation_listeddomain.reason cannot be NULL.",
    ]


def judged(*operations: Any, **attributes: Any) -> list[str]:
    """As one migration more, on a model that is there."""
    state = ProjectState()
    fields: list[Any] = [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=50)),
        ("note", models.TextField(null=True)),
        ("count", models.IntegerField(db_default=0)),
    ]
    migrations.CreateModel("Thing", fields).state_forwards("accounts", state)
    kind = type("Migration", (migrations.Migration,), {"operations": operations, **attributes})
    return list(faults(kind("0099_change", "accounts"), state))


def field(name: str, kind: models.Field[Any, Any]) -> Any:
    return migrations.AlterField("thing", name, kind)


def new(kind: models.Field[Any, Any]) -> Any:
    return migrations.AddField("thing", "later", kind)


INDEX = models.Index(fields=["name"], name="thing_by_name")
CHECK = models.CheckConstraint(condition=models.Q(count__gte=0), name="count_is_positive")


@pytest.mark.parametrize(
    "operation",
    [
        migrations.CreateModel("Other", [("id", models.BigAutoField(primary_key=True))]),
        new(models.TextField(null=True)),
        new(models.IntegerField(db_default=1)),
        new(models.ForeignKey("accounts.thing", models.CASCADE, null=True, db_index=False)),
        field("name", models.CharField(max_length=60)),
        field("name", models.CharField(max_length=50, null=True)),
        field("name", models.CharField(max_length=50, help_text="As it is called")),
        AddIndexConcurrently("thing", INDEX),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("thing", "note")]
        ),
    ],
)
def test_what_only_widens_is_taken(operation: Any) -> None:
    assert judged(operation) == []


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
        new(models.TextField()),
        new(models.TextField(default="filled by Django alone")),
        new(models.TextField(null=True, unique=True)),
        new(models.ForeignKey("accounts.thing", models.CASCADE, null=True)),
        field("name", models.CharField(max_length=40)),
        field("name", models.CharField(max_length=50, unique=True)),
        field("note", models.TextField()),
        field("note", models.IntegerField(null=True)),
        field("count", models.IntegerField()),
        migrations.SeparateDatabaseAndState([migrations.RunSQL("DROP TABLE thing")]),
    ],
)
def test_what_running_code_would_not_survive_is_refused_unless_a_reason_is_given(
    operation: Any,
) -> None:
    assert len(judged(operation)) == 1
    assert len(judged(operation, harmless_because="yes")) == 1
    assert judged(operation, harmless_because="The release before has not read it any more.") == []


def test_a_table_that_is_made_with_it_may_be_filled_and_indexed() -> None:
    made = migrations.CreateModel("Other", [("id", models.BigAutoField(primary_key=True))])
    assert judged(made, migrations.AddIndex("other", INDEX)) == []


@pytest.mark.usefixtures("fresh_database")
def test_an_index_that_is_built_beside_writers_is_built_on_both_databases() -> None:
    model = apps.get_model("validation", "ListedDomain")
    index = models.Index(fields=["reason"], name="listed_by_reason")
    editor: Any = connection.schema_editor(atomic=False)
    with editor:
        editor.add_index(model, index, concurrently=True)
        assert "listed_by_reason" in indexes_of(model)
        editor.remove_index(model, index, concurrently=True)
    assert "listed_by_reason" not in indexes_of(model)


def indexes_of(model: Any) -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, model._meta.db_table))
