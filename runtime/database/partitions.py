"""Create and drop the daily partitions of tables that every metered call writes. PostgreSQL only.

The indexes of the newest day stay in memory, and retention drops whole days. A default partition
takes the rows of days without a partition, so a missing one fails no call. A migration partitions a
table with partitioning.py.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.db import connection, models, transaction
from django.utils import timezone

from runtime.database.timeouts import MIGRATION_LOCK_TIMEOUT
from runtime.dates import midnight

DAYS_AHEAD = 7
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


class PartitionedTable:
    """A model's table with a partition for each day (UTC) of its column `at`."""

    def __init__(self, model: type[models.Model]) -> None:
        self.name = model._meta.db_table
        self.default = f"{self.name}_default"
        self._partition_name = re.compile(rf"{self.name}_(until_)?(\d{{8}})")

    def list_partitions(self) -> list[Partition]:
        """Return the partitions without the default one. SQLite has none."""
        if connection.vendor != "postgresql":
            return []
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
                "WHERE inhparent = to_regclass(%s)",
                [self.name],
            )
            names = (self._partition_name.fullmatch(name) for (name,) in cursor.fetchall())
            return [
                Partition(name[0], _parse_day(name[2]), bool(name[1])) for name in names if name
            ]

    def create_partitions(self) -> None:
        """Create the partitions of today and the days ahead."""
        existing = self.list_partitions()
        today = timezone.now().date()
        for offset in range(DAYS_AHEAD + 1) if self.is_partitioned() else ():
            day = today + timedelta(days=offset)
            if not any(partition.covers(day) for partition in existing):
                self.create_partition(day)

    def create_partition(self, day: date) -> None:
        """Create a day's partition, unless the default partition has rows of that day.

        These stay there, and so do later ones: moving them would block the calls that write others.
        """
        name = f"{self.name}_{day:%Y%m%d}"
        bounds = (midnight(day), midnight(day + timedelta(days=1)))
        with _short_locks(), connection.cursor() as cursor:
            cursor.execute(
                f"SELECT to_regclass(%s) IS NULL AND NOT EXISTS "  # noqa: S608 - our own names
                f"(SELECT 1 FROM {self.default} WHERE at >= %s AND at < %s)",
                [name, *bounds],
            )
            if not cursor.fetchone()[0]:
                return
            # Attached afterwards, because creating it as a partition would lock the whole table.
            columns = f"LIKE {self.name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            values = "FOR VALUES FROM (%s) TO (%s)"
            cursor.execute(f"ALTER TABLE {self.name} ATTACH PARTITION {name} {values}", bounds)

    def drop_partitions(self, *, before: datetime) -> None:
        """Drop the days that ended by then, and delete such rows of the default partition."""
        for partition in self.list_partitions():
            if partition.end <= before:
                with _short_locks(), connection.cursor() as cursor:
                    cursor.execute(f"DROP TABLE IF EXISTS {partition.name}")
        if self.is_partitioned():
            with connection.cursor() as cursor:
                # Usually empty, so no index on the time is needed.
                cursor.execute(f"DELETE FROM {self.default} WHERE at <= %s", [before])  # noqa: S608

    def is_partitioned(self) -> bool:
        """Return False for SQLite, and while the database is migrated."""
        if connection.vendor != "postgresql":
            return False
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [self.default])
            return bool(cursor.fetchone()[0])


def _parse_day(digits: str) -> date:
    return datetime.strptime(f"{digits}Z", "%Y%m%d%z").date()


@contextmanager
def _short_locks() -> Iterator[None]:
    """Open a transaction that gives up a lock it doesn't get in time: calls queue behind it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = {MIGRATION_LOCK_TIMEOUT * 1000:.0f}")
        # Another machine may do the same.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_ID])
        yield
