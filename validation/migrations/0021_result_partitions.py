from typing import Any

from django.db import migrations

from runtime.database.partitioning import partition_by_day


def partition(apps: Any, schema_editor: Any) -> None:
    partition_by_day(schema_editor, "validation_storedresult", constraint="results_until")


class Migration(migrations.Migration):
    """Partition the stored results by time on PostgreSQL."""

    atomic = False
    harmless_because = (
        "The previous release reads and writes the partitioned table under the same name."
    )

    dependencies = [("validation", "0020_index_of_result_ids")]

    operations = [migrations.RunPython(partition)]
