"""On PostgreSQL the request log has a partition for each day."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection  # noqa: F401 - in the condition below
from django.utils import timezone
from prometheus_client import REGISTRY

from accounts.models import Account
from tests.support.partitions import days, days_from_today, drop_days, partition_of
from validation.models import LogEntry
from validation.partitions import LOG, measure
from validation.request_log.retention import delete_old_log_entries

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only"),
]

TODAY = days_from_today(0)


def add_entry(account: Account, days: int, **fields: object) -> LogEntry:
    at = timezone.now() + timedelta(days=days)
    return LogEntry.objects.create(account=account, at=at, status=200, duration_ms=1, **fields)


@pytest.fixture
def no_days(db: None) -> None:
    drop_days(LOG)


def test_partitions_exist_for_the_next_seven_days() -> None:
    assert {days_from_today(number) for number in range(8)} <= days(LOG)


def test_rows_are_stored_in_the_partition_of_their_day(account: Account, no_days: None) -> None:
    LOG.create_partitions()
    assert partition_of(add_entry(account, 0)) == f"validation_logentry_{TODAY:%Y%m%d}"
    tomorrow = add_entry(account, 1)
    assert partition_of(tomorrow) == f"validation_logentry_{days_from_today(1):%Y%m%d}"


def test_row_of_a_day_without_partition_is_found(account: Account, no_days: None) -> None:
    entry = add_entry(account, 0, request_id="req_1")
    assert partition_of(entry) == LOG.default
    assert LogEntry.objects.retained_for(account).get(request_id="req_1") == entry


def test_day_with_rows_in_the_default_partition_stays(account: Account, no_days: None) -> None:
    entry = add_entry(account, 0)
    LOG.create_partitions()
    assert partition_of(entry) == LOG.default
    assert partition_of(add_entry(account, 0)) == LOG.default
    assert days(LOG) == {days_from_today(number) for number in range(1, 8)}
    measure()
    assert REGISTRY.get_sample_value("emailvalidation_default_partitions_used") == 1


def test_days_that_ended_before_the_retention_are_dropped(
    account: Account, settings: Any, no_days: None
) -> None:
    for age in range(7):
        LOG.create_partition(days_from_today(-age))
        add_entry(account, -age)
    settings.LOG_RETENTION_DAYS = 3
    delete_old_log_entries()
    assert min(days(LOG)) == days_from_today(-3)
    ages = [(timezone.now() - entry.at).days for entry in LogEntry.objects.order_by("-at")]
    assert ages == [0, 1, 2, 3]


def test_old_rows_of_the_default_partition_are_deleted(
    account: Account, settings: Any, no_days: None
) -> None:
    for age in (5, 4, 2):
        assert partition_of(add_entry(account, -age)) == LOG.default
    settings.LOG_RETENTION_DAYS = 3
    delete_old_log_entries()
    assert LogEntry.objects.count() == 1


def test_ids_hidden_in_many_partitions_are_deleted_in_batches(
    account: Account, monkeypatch: pytest.MonkeyPatch, no_days: None
) -> None:
    monkeypatch.setattr("runtime.database.batches.BATCH_SIZE", 2)
    for age in range(5):
        LOG.create_partition(days_from_today(-age))
        add_entry(account, -age)
    old = LogEntry.objects.filter(at__lt=timezone.now() - timedelta(hours=12))
    assert old.delete_in_batches() == 4
    assert LogEntry.objects.count() == 1
