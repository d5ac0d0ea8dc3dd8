"""Manage daily partitions on PostgreSQL.

The newest day's indexes stay in memory, and retention drops whole days. A default partition takes
rows of missing days.
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
_LOCK_ID = 5_083_229_315


class Partition(NamedTuple):
    name: str
    day: date

    @property
    def end(self) -> datetime:
        return midnight(self.day + timedelta(days=1))


class PartitionedTable:
    def __init__(self, model: type[models.Model]) -> None:
        self.name = model._meta.db_table
        self.default = f"{self.name}_default"
        self._partition_name = re.compile(rf"{self.name}_(\d{{8}})")

    def list_partitions(self) -> list[Partition]:
        if connection.vendor != "postgresql":
            return []
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
                "WHERE inhparent = to_regclass(%s)",
                [self.name],
            )
            names = (self._partition_name.fullmatch(name) for (name,) in cursor.fetchall())
            return [Partition(name[0], date.fromisoformat(name[1])) for name in names if name]

    def create_partitions(self) -> None:
        existing = {partition.day for partition in self.list_partitions()}
        today = timezone.now().date()
        for offset in range(DAYS_AHEAD + 1) if self.is_partitioned() else ():
            day = today + timedelta(days=offset)
            if day not in existing:
                self.create_partition(day)

    def create_partition(self, day: date) -> None:
        """Skip a day whose rows are in the default partition: moving them would block calls."""
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
            # Creating it as a partition would lock the whole table.
            columns = f"LIKE {self.name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            values = "FOR VALUES FROM (%s) TO (%s)"
            cursor.execute(f"ALTER TABLE {self.name} ATTACH PARTITION {name} {values}", bounds)

    def drop_partitions(self, *, before: datetime) -> None:
        for partition in self.list_partitions():
            if partition.end <= before:
                with _short_locks(), connection.cursor() as cursor:
                    cursor.execute(f"DROP TABLE IF EXISTS {partition.name}")
        if self.is_partitioned():
            with connection.cursor() as cursor:
                # Usually empty, so it needs no index.
                cursor.execute(f"DELETE FROM {self.default} WHERE at <= %s", [before])  # noqa: S608

    def has_rows_of_missing_days(self) -> bool:
        if not self.is_partitioned():
            return False
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {self.default})")  # noqa: S608
            return bool(cursor.fetchone()[0])

    def is_partitioned(self) -> bool:
        if connection.vendor != "postgresql":
            return False
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [self.default])
            return bool(cursor.fetchone()[0])


@contextmanager
def _short_locks() -> Iterator[None]:
    """Give up on a lock soon: calls queue behind it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = {MIGRATION_LOCK_TIMEOUT * 1000:.0f}")
        # Another machine may do the same.
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_ID])
        yield
