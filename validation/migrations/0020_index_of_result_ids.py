from typing import Any

from django.db import migrations

# Django's own index for LIKE, whose name ends with a digest.
_UNUSED = """
SELECT indexname FROM pg_indexes
WHERE tablename = 'validation_storedresult' AND indexname LIKE '%_like'
"""


def replace_indexes(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(
        "CREATE INDEX CONCURRENTLY result_by_id ON validation_storedresult (result_id)"
    )
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(_UNUSED)
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX CONCURRENTLY {name}")


class Migration(migrations.Migration):
    """Index the ids without a unique constraint, which a partitioned table can't have.

    Drop the index for LIKE, which Django has added to the primary key and no query uses.
    """

    atomic = False
    harmless_because = "The index is built concurrently, and the primary key's stays."

    dependencies = [("validation", "0019_time_of_stored_results")]

    operations = [migrations.RunPython(replace_indexes)]
