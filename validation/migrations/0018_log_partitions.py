from typing import Any

from django.db import migrations

from runtime.database.partitioning import partition_by_day


def partition(apps: Any, schema_editor: Any) -> None:
    partition_by_day(
        schema_editor, "validation_logentry", constraint="log_until", identity="id"
    )


class Migration(migrations.Migration):
    """Partition the request log by time on PostgreSQL."""

    atomic = False
    harmless_because = (
        "The previous release reads and writes the partitioned table under the same name."
    )

    dependencies = [("validation", "0017_index_of_log_ids")]

    operations = [migrations.RunPython(partition)]
