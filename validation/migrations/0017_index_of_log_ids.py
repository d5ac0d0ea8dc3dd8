from typing import Any

from django.db import migrations


def create_index(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE INDEX CONCURRENTLY log_by_id ON validation_logentry (id)")


class Migration(migrations.Migration):
    """Index the ids without a unique constraint, which a partitioned table can't have."""

    atomic = False
    harmless_because = "The index is built concurrently, and the primary key's stays."

    dependencies = [("validation", "0016_remove_index_of_all_reasons")]

    operations = [migrations.RunPython(create_index)]
