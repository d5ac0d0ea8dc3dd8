"""Partitions are created and dropped while other sessions use the tables. PostgreSQL only."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, models, transaction
from django.utils import timezone

from accounts.models import Account
from accounts.services import open_account
from runtime.database import partitions
from runtime.database.partitions import PartitionedTable
from runtime.database.raw_sql import BulkInsert, JsonTable
from tests.conftest import make_user
from tests.support.fresh_database import run_concurrently
from tests.support.log_records import LogCapture
from tests.support.partitions import (
    apply_migrations,
    days,
    days_from_today,
    lock_held,
    partition_log,
    partition_of,
    partition_results,
    unpartition_log,
    unpartition_results,
)
from tests.validation.request_log.test_partitions import add_entry
from validation.ids import new_result_id
from validation.models import LogEntry, StoredResult
from validation.partitions import LOG, RESULTS, create_after_migrations

pytestmark = [
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only"),
    pytest.mark.usefixtures("fresh_database"),
]
both_tables = pytest.mark.parametrize("table", [LOG, RESULTS], ids=lambda table: table.name)


@pytest.fixture
def shop() -> Account:
    return open_account(user=make_user("owner@shop.example"), name="The Shop")


@pytest.fixture
def short_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MIGRATION_LOCK_TIMEOUT", 0.05)


@both_tables
def test_busy_table_does_not_prevent_a_start(
    table: PartitionedTable,
    records: LogCapture,
    monkeypatch: pytest.MonkeyPatch,
    short_locks: None,
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
def test_concurrent_creations_succeed(
    table: PartitionedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_log_becomes_the_first_partition_with_its_rows(shop: Account) -> None:
    entries = [add_entry(shop, -age) for age in (40, 1, 0)]
    with transaction.atomic(), connection.cursor() as cursor:
        unpartition_log(cursor)
    insert = LogEntry.objects.bulk_insert([_row(shop, "before")])
    insert.run()
    partition_log()
    # The prepared statement of a running worker.
    insert.run()
    assert LogEntry.objects.filter(request_id="before").count() == 2
    newest = LogEntry.objects.latest("pk")
    assert newest.pk > max(entry.pk for entry in entries)
    assert partition_of(newest) == partition_of(entries[0])
    assert set(LogEntry.objects.exclude(request_id="before")) == set(entries)
    LOG.create_partitions()
    assert days(LOG) == {days_from_today(number) for number in range(2, 8)}


def test_stored_results_become_the_first_partition_and_are_found(shop: Account) -> None:
    before, after = new_result_id(), new_result_id()
    with transaction.atomic(), connection.cursor() as cursor:
        unpartition_results(cursor)
        cursor.execute(f"ALTER TABLE {RESULTS.name} DROP COLUMN at")
    _insert_like_previous_release(shop, before)
    apply_migrations("0019_time_of_stored_results")
    partition_results()
    # The prepared statement of a running worker.
    _insert_like_previous_release(shop, after)
    for result_id in (before, after):
        stored = StoredResult.objects.find(shop, result_id)
        assert stored is not None
        assert partition_of(stored).startswith(f"{RESULTS.name}_until_")
    RESULTS.create_partitions()
    assert days(RESULTS) == {days_from_today(number) for number in range(2, 8)}


@pytest.mark.parametrize(
    ("table", "constraint", "unpartition", "partition"),
    [
        (LOG, "log_until", unpartition_log, partition_log),
        (RESULTS, "results_until", unpartition_results, partition_results),
    ],
)
def test_interrupted_partitioning_is_repeated(
    table: PartitionedTable,
    constraint: str,
    unpartition: Callable[[Any], None],
    partition: Callable[[], None],
) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        unpartition(cursor)
        check = f"ADD CONSTRAINT {constraint} CHECK (at < '2026-01-01') NOT VALID"
        cursor.execute(f"ALTER TABLE {table.name} {check}")
    partition()
    table.create_partitions()
    assert days(table)
    with connection.cursor() as cursor:
        for name in (table.name, *(each.name for each in table.list_partitions())):
            assert constraint not in connection.introspection.get_constraints(cursor, name)


def _insert_like_previous_release(account: Account, result_id: str) -> None:
    columns = JsonTable(
        result_id=models.CharField(max_length=30),
        account_id=models.BigIntegerField(),
        packed=models.TextField(),
    )
    BulkInsert(RESULTS.name, columns, [(result_id, account.pk, "")]).run()


def _row(account: Account, request_id: str) -> dict[str, object]:
    return {
        "account_id": account.pk,
        "request_id": request_id,
        "status": 200,
        "path": "/v1/validate",
        "duration_ms": 1,
    }
