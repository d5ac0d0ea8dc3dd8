"""Partition the tables that every metered call writes to by day, on PostgreSQL."""

import logging

from django.db import IntegrityError, OperationalError

from runtime.database.partitions import PartitionedTable
from runtime.metrics.client import LatestGauge
from validation.models import LogEntry, StoredResult

logger = logging.getLogger(__name__)

in_default = LatestGauge(
    "emailvalidation_default_partitions_used",
    "Tables with rows of days that have no partition, which must be moved by hand.",
)

LOG = PartitionedTable(LogEntry)
RESULTS = PartitionedTable(StoredResult)


def create_log_partitions() -> None:
    LOG.create_partitions()


def create_result_partitions() -> None:
    RESULTS.create_partitions()


def measure() -> None:
    in_default.set(sum(table.has_rows_of_missing_days() for table in (LOG, RESULTS)))


def create_after_migrations(**signal: object) -> None:
    """Create the partitions before the service starts, but start even if a table is busy."""
    for table in (LOG, RESULTS):
        try:
            table.create_partitions()
        # The table is in use, or a call stored the day's first row in the default partition.
        except (OperationalError, IntegrityError):
            logger.warning("Partitions of %s not created; the daily job tries again.", table.name)
