"""On PostgreSQL the stored results have a partition for each day."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from tests.support.api_client import ApiClient
from tests.support.partitions import days, days_from_today, drop_days, partition_of
from tests.validation.batches.test_stored_batches import send
from validation.erasure import erase_address
from validation.ids import new_result_id
from validation.models import StoredResult
from validation.partitions import RESULTS
from validation.request_log.data import delete_requests
from validation.request_log.retention import delete_old_results

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only"),
]

ADDRESS, BATCH = "no address", ["no address", "another"]
DELETED_ROWS = """
SELECT sum(n_tup_del) FROM pg_stat_xact_user_tables WHERE relname LIKE 'validation_storedresult%'
"""


@pytest.fixture(autouse=True)
def no_days(db: None) -> None:
    drop_days(RESULTS)


@pytest.fixture
def all_days(no_days: None) -> None:
    RESULTS.create_partitions()
    for age in range(1, 6):
        RESULTS.create_partition(days_from_today(-age))


def validate_ago(caller: ApiClient, age: timedelta) -> StoredResult:
    with time_machine.travel(timezone.now() - age):
        result_id = caller.validate(ADDRESS).json()["id"]
    return StoredResult.objects.get(result_id=result_id)


def deleted_rows() -> int:
    """Return the number of rows that this session has deleted one by one, recently."""
    with connection.cursor() as cursor:
        cursor.execute(DELETED_ROWS)
        return int(cursor.fetchone()[0])


@pytest.mark.usefixtures("all_days")
def test_result_and_batch_are_stored_in_the_partition_of_their_day(caller: ApiClient) -> None:
    yesterday = validate_ago(caller, timedelta(days=1))
    send(caller, BATCH)
    batch = StoredResult.objects.get(result_id__startswith="bat_")
    assert partition_of(yesterday) == f"validation_storedresult_{days_from_today(-1):%Y%m%d}"
    assert partition_of(batch) == f"validation_storedresult_{days_from_today(0):%Y%m%d}"


@pytest.mark.usefixtures("all_days")
def test_lookup_reads_the_index_of_the_days_since_the_result(account: Account) -> None:
    result_id = new_result_id()
    with CaptureQueriesContext(connection) as queries:
        StoredResult.objects.find(account, result_id)
    query = queries.captured_queries[0]["sql"]
    with connection.cursor() as cursor:
        # The tables are almost empty.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {query}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    scanned = re.findall(r" on validation_storedresult_(\d{8}|default)\b", plan)
    hour = timedelta(hours=1)
    near = {timezone.now() - hour, timezone.now() + hour}
    assert set(scanned) == {f"{each:%Y%m%d}" for each in near}, plan
    assert "Seq Scan" not in plan
    assert plan.count("Index Cond: ((result_id)::text =") == len(scanned), plan


@pytest.mark.usefixtures("all_days")
def test_expired_days_are_dropped_without_deleting_a_row(caller: ApiClient) -> None:
    for age in (3, 2, 0):
        validate_ago(caller, timedelta(days=age))
    before = deleted_rows()
    delete_old_results()
    assert deleted_rows() == before
    assert min(days(RESULTS)) == days_from_today(-1)
    assert StoredResult.objects.count() == 1


@pytest.mark.usefixtures("all_days")
def test_expired_results_of_the_last_day_are_deleted(caller: ApiClient, settings: Settings) -> None:
    settings.RESULT_RETENTION_HOURS = 48
    rows = [validate_ago(caller, timedelta(hours=hours)) for hours in (49, 47)]
    delete_old_results()
    assert list(StoredResult.objects.all()) == rows[1:]
    assert days_from_today(-2) in days(RESULTS)


@pytest.mark.usefixtures("all_days")
def test_days_are_kept_for_replays_of_old_results(caller: ApiClient, settings: Settings) -> None:
    settings.RESULT_RETENTION_HOURS = 1
    with time_machine.travel(timezone.now() - timedelta(hours=23, minutes=59)):
        first = caller.validate(ADDRESS, Idempotency_Key="order-1")
        caller.validate(ADDRESS)
    delete_old_results()
    assert StoredResult.objects.count() == 1
    assert caller.validate(ADDRESS, Idempotency_Key="order-1").content == first.content


@pytest.mark.usefixtures("all_days")
def test_results_of_many_days_are_erased(caller: ApiClient, account: Account, owner: User) -> None:
    for age in (1, 0):
        validate_ago(caller, timedelta(days=age))
    send(caller, BATCH)
    erase_address(email=ADDRESS, account=account, actor=owner)
    batch = StoredResult.objects.get()
    assert batch.result_id.startswith("bat_")
    delete_requests(account=account)
    assert not StoredResult.objects.exists()
