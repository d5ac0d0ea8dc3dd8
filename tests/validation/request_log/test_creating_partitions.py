"""Partitions of the request log are created while other sessions use it. PostgreSQL only."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction

from accounts.models import Account
from accounts.services import open_account
from tests.conftest import make_user
from tests.support.fresh_database import run_concurrently
from tests.support.log_records import LogCapture
from tests.validation.request_log.plain_log import unpartition_log
from tests.validation.request_log.test_partitions import (
    add_entry,
    days,
    days_from_today,
    partition_of,
)
from validation.models import LogEntry
from validation.request_log import partitions
from validation.request_log.partitions import DEFAULT, create_after_migrations, create_partitions

pytestmark = [
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only"),
    pytest.mark.usefixtures("fresh_database"),
]


@pytest.fixture
def shop() -> Account:
    return open_account(user=make_user("owner@shop.example"), name="The Shop")


@contextmanager
def lock_held(table: str) -> Iterator[None]:
    parameters = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    with psycopg.connect(
        **{name: parameters[name] for name in names if name in parameters}
    ) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS SHARE MODE")
        yield


def test_busy_table_does_not_prevent_a_start(
    records: LogCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "DAYS_AHEAD", 8)
    monkeypatch.setattr(partitions, "MIGRATION_LOCK_TIMEOUT", 0.05)
    with lock_held(DEFAULT):
        create_after_migrations()
        with pytest.raises(OperationalError):
            create_partitions()
    assert "partitions were not created" in records.text
    assert days_from_today(8) not in days()
    create_partitions()
    assert days_from_today(8) in days()


def test_concurrent_creations_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "DAYS_AHEAD", 9)
    assert run_concurrently(4, lambda _: create_partitions()) == [None] * 4
    assert {days_from_today(8), days_from_today(9)} <= days()


def test_existing_table_becomes_the_first_partition_with_its_rows(shop: Account) -> None:
    entries = [add_entry(shop, -age) for age in (40, 1, 0)]
    _unpartition()
    insert = LogEntry.objects.bulk_insert([_row(shop, "before")])
    insert.run()
    call_command("migrate", verbosity=0)
    # The prepared statement of a running worker.
    insert.run()
    assert LogEntry.objects.filter(request_id="before").count() == 2
    newest = LogEntry.objects.latest("pk")
    assert newest.pk > max(entry.pk for entry in entries)
    assert partition_of(newest) == partition_of(entries[0])
    assert set(LogEntry.objects.exclude(request_id="before")) == set(entries)
    assert days() == {days_from_today(number) for number in range(2, 8)}


def test_interrupted_partitioning_is_repeated(shop: Account) -> None:
    _unpartition()
    with connection.cursor() as cursor:
        check = "ADD CONSTRAINT log_until CHECK (at < '2026-01-01') NOT VALID"
        cursor.execute(f"ALTER TABLE validation_logentry {check}")
    call_command("migrate", verbosity=0)
    add_entry(shop, 0)
    assert days()


def _unpartition() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        unpartition_log(cursor)


def _row(account: Account, request_id: str) -> dict[str, object]:
    return {
        "account_id": account.pk,
        "request_id": request_id,
        "status": 200,
        "path": "/v1/validate",
        "duration_ms": 1,
    }
