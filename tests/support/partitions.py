"""Partitioned tables of PostgreSQL: which days they have, and where a row is."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta

from django.db import connection, models
from django.utils import timezone

from runtime.database.partitions import DAYS_AHEAD, PartitionedTable
from tests.support.fresh_database import connect


def days_from_today(number: int) -> date:
    return timezone.now().date() + timedelta(days=number)


def partition_of(row: models.Model) -> str:
    table, key = row._meta.db_table, row._meta.pk
    assert key is not None
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT tableoid::regclass::text FROM {table} WHERE {key.column} = %s",  # noqa: S608
            [row.pk],
        )
        return str(cursor.fetchone()[0])


def days(table: PartitionedTable) -> set[date]:
    """Return the days that have a partition of their own."""
    return {each.day for each in table.list_partitions()}


def drop_days(table: PartitionedTable) -> None:
    """Leave only the default partition, which has no rows."""
    table.drop_partitions(before=timezone.now() + timedelta(days=DAYS_AHEAD + 1))


@contextmanager
def lock_held(table: str) -> Iterator[None]:
    """Hold the lock of a query that reads the table."""
    with connect() as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS SHARE MODE")
        yield
