"""Partitions are created and dropped while other sessions use the tables. PostgreSQL only."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection  # noqa: F401 - in the condition below
from django.utils import timezone

from runtime.database import partitions
from runtime.database.partitions import PartitionedTable
from tests.support.fresh_database import run_concurrently
from tests.support.log_records import LogCapture
from tests.support.partitions import days, days_from_today, lock_held
from validation.partitions import LOG, RESULTS, create_after_migrations

pytestmark = [
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only"),
    pytest.mark.usefixtures("fresh_database"),
]
both_tables = pytest.mark.parametrize("table", [LOG, RESULTS], ids=lambda table: table.name)


@pytest.fixture
def short_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MIGRATION_LOCK_TIMEOUT", 0.05)


@both_tables
def test_busy_table_does_not_prevent_a_start(
    table: PartitionedTable, records: LogCapture, monkeypatch: pytest.MonkeyPatch, short_locks: None
) -> None:
    monkeypatch.setattr(partitions, "DAYS_AHEAD", 8)
    with lock_held(table.default):
        create_after_migrations()
        with pytest.raises(OperationalError):
            table.create_partitions()
    assert f"Partitions of {table.name} not created" in records.text
    assert [days_from_today(8) in days(each) for each in (LOG, RESULTS)] == [
        each is not table for each in (LOG, RESULTS)
    ]
    table.create_partitions()
    assert days_from_today(8) in days(table)


@both_tables
def test_concurrent_creations_end(table: PartitionedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "DAYS_AHEAD", 9)
    assert run_concurrently(4, lambda _: table.create_partitions()) == [None] * 4
    assert {days_from_today(8), days_from_today(9)} <= days(table)


@both_tables
def test_partition_in_use_is_dropped_later(table: PartitionedTable, short_locks: None) -> None:
    unneeded, now = days_from_today(3), timezone.now()
    end = now + timedelta(days=5)
    with lock_held(f"{table.name}_{unneeded:%Y%m%d}"):
        with pytest.raises(OperationalError):
            table.drop_partitions(before=end)
        assert unneeded in days(table)
    table.drop_partitions(before=end)
    assert min(days(table)) > unneeded


@both_tables
def test_concurrent_drops_succeed(table: PartitionedTable) -> None:
    end = timezone.now() + timedelta(days=5)
    assert run_concurrently(4, lambda _: table.drop_partitions(before=end)) == [None] * 4
    assert len(days(table)) == 3
