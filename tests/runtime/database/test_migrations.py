"""The previous release keeps working after every migration."""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader

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
def test_tables_accept_rows_of_both_releases(loader: MigrationLoader) -> None:
    before = loader.project_state(RELEASED_NODES).apps
    for app in RELEASED:
        assert list(find_mismatches(before.get_app_config(app).get_models())) == []
        assert list(find_mismatches(apps.get_app_config(app).get_models())) == []


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
