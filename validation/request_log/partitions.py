"""Create and drop the partitions of the request log, one per day. PostgreSQL only.

The indexes of the newest day stay in memory, and retention drops whole days. A default partition
takes the rows of days without a partition, so a missing one fails no call.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from runtime.database.timeouts import MIGRATION_LOCK_TIMEOUT
from runtime.dates import midnight
from validation.models import LogEntry
from validation.models.log_entries import LogEntryQuerySet

logger = logging.getLogger(__name__)

DAYS_AHEAD = 7
TABLE = LogEntry._meta.db_table
DEFAULT = f"{TABLE}_default"
_NAME = re.compile(rf"{TABLE}_(until_)?(\d{{8}})")
# The key of the advisory lock: an arbitrary number.
_LOCK_ID = 5_083_229_315


class Partition(NamedTuple):
    name: str
    last_day: date
    # The first partition has all earlier rows too: it was the table before it was partitioned.
    is_first: bool

    @property
    def end(self) -> datetime:
        return midnight(self.last_day + timedelta(days=1))

    def covers(self, day: date) -> bool:
        return day == self.last_day or (self.is_first and day < self.last_day)


def list_partitions() -> list[Partition]:
    """Return the partitions without the default one. SQLite has none."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
            "WHERE inhparent = to_regclass(%s)",
            [TABLE],
        )
        names = (_NAME.fullmatch(name) for (name,) in cursor.fetchall())
        return [
            Partition(name[0], datetime.strptime(f"{name[2]}Z", "%Y%m%d%z").date(), bool(name[1]))
            for name in names
            if name
        ]


def create_partitions() -> None:
    """Create the partitions of today and the days ahead. A daily job."""
    existing = list_partitions()
    today = timezone.now().date()
    for offset in range(DAYS_AHEAD + 1) if _is_partitioned() else ():
        day = today + timedelta(days=offset)
        if not any(partition.covers(day) for partition in existing):
            create_partition(day)


def create_after_migrations(**signal: object) -> None:
    """Create the partitions before the service starts, which a busy table doesn't prevent."""
    try:
        create_partitions()
    # The table is in use, or a call stored the day's first row in the default partition.
    except (OperationalError, IntegrityError):
        logger.warning("The request log's partitions were not created. The daily job tries again.")


def create_partition(day: date) -> None:
    """Create a day's partition, unless the default partition has rows of that day.

    These stay there, and so do later ones: moving them would block the calls that write others.
    """
    name, bounds = f"{TABLE}_{day:%Y%m%d}", (midnight(day), midnight(day + timedelta(days=1)))
    with _short_locks(), connection.cursor() as cursor:
        cursor.execute(
            f"SELECT to_regclass(%s) IS NULL AND NOT EXISTS "  # noqa: S608 - our own names
            f"(SELECT 1 FROM {DEFAULT} WHERE at >= %s AND at < %s)",
            [name, *bounds],
        )
        if not cursor.fetchone()[0]:
            return
        # Attached afterwards, because creating it as a partition would lock the whole log.
        cursor.execute(
            f"CREATE TABLE {name} (LIKE {TABLE} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
        )
        cursor.execute(
            f"ALTER TABLE {TABLE} ATTACH PARTITION {name} FOR VALUES FROM (%s) TO (%s)", bounds
        )


def drop_partitions(*, before: datetime) -> None:
    """Drop the days that ended by then, and delete such rows of the default partition."""
    for partition in list_partitions():
        if partition.end <= before:
            with _short_locks(), connection.cursor() as cursor:
                cursor.execute(f"DROP TABLE IF EXISTS {partition.name}")
    if _is_partitioned():
        with connection.cursor() as cursor:
            # Usually empty, so no index on the time is needed.
            cursor.execute(f"DELETE FROM {DEFAULT} WHERE at <= %s", [before])  # noqa: S608


def rows_to_delete_one_by_one() -> LogEntryQuerySet:
    """Return the rows that no dropped day contains: on PostgreSQL, those of the first partition."""
    if not _is_partitioned():
        return LogEntry.objects.all()
    first = [partition.end for partition in list_partitions() if partition.is_first]
    return LogEntry.objects.filter(at__lt=first[0]) if first else LogEntry.objects.none()


def _is_partitioned() -> bool:
    """Return False for SQLite, and while the database is migrated."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [DEFAULT])
        return bool(cursor.fetchone()[0])


@contextmanager
def _short_locks() -> Iterator[None]:
    """Open a transaction that gives up a lock it doesn't get in time: calls queue behind it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = {MIGRATION_LOCK_TIMEOUT * 1000:.0f}")
        # Another machine may do the same.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_ID])
        yield
