"""Retention of the request log: the operator's limit, or a shorter time that an account chose."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import change_log_days
from credits.models import UseHour
from runtime.database import batches
from tests.support.api_client import ApiClient
from validation.ids import new_result_id
from validation.models import LogEntry, Replay
from validation.models.replays import digest
from validation.request_log.data import export_requests
from validation.request_log.retention import delete_old_log_entries, delete_old_replays

pytestmark = pytest.mark.django_db

ADDRESS = "no address"


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_SIZE", 2)


def add_requests(account: Account, *days_ago: float) -> None:
    now = timezone.now()
    for days in days_ago:
        LogEntry.objects.create(
            account=account, at=now - timedelta(days=days), status=200, duration_ms=1
        )


def add_replay(account: Account, idempotency_key: str) -> None:
    sent = digest("address", ADDRESS)
    Replay.of_request(account, idempotency_key, sent, result_id=new_result_id()).store()


def ages(account: Account) -> list[int]:
    now = timezone.now()
    return [
        (now - entry.at).days for entry in LogEntry.objects.filter(account=account).order_by("pk")
    ]


def test_requests_older_than_the_operators_retention_are_deleted(
    account: Account, settings: Settings, small_batches: None
) -> None:
    add_requests(account, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    settings.LOG_RETENTION_DAYS = 4
    delete_old_log_entries()
    assert ages(account) == [3, 2, 1]


def test_account_can_choose_a_shorter_retention(
    account: Account, owner: User, stranger: User, small_batches: None
) -> None:
    other_account = stranger.memberships.get().account
    add_requests(account, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    add_requests(other_account, 9, 1)
    change_log_days(account=account, days=3, actor=owner)
    delete_old_log_entries()
    assert ages(account) == [2, 1]
    assert ages(other_account) == [9, 1]


def test_no_account_can_exceed_the_operators_retention(
    account: Account, owner: User, settings: Settings
) -> None:
    change_log_days(account=account, days=20, actor=owner)
    settings.LOG_RETENTION_DAYS = 5
    add_requests(account, 6, 4)
    assert account.log_retention_days == 5
    delete_old_log_entries()
    assert ages(account) == [4]


def test_shorter_retention_hides_older_requests_immediately(account: Account, owner: User) -> None:
    add_requests(account, 9, 1)
    change_log_days(account=account, days=7, actor=owner)
    requests = export_requests(account=account)["requests"]
    assert isinstance(requests, list)
    assert len(requests) == 1
    assert LogEntry.objects.count() == 2


def test_hidden_requests_stay_hidden_with_a_longer_retention(account: Account, owner: User) -> None:
    add_requests(account, 2)
    change_log_days(account=account, days=0, actor=owner)
    change_log_days(account=account, days=None, actor=owner)
    assert not LogEntry.objects.retained_for(account).exists()
    delete_old_log_entries()
    assert not LogEntry.objects.exists()


@pytest.mark.skipif("connection.vendor == 'postgresql'", reason="PostgreSQL drops days")
def test_deletion_stops_at_the_first_batch_without_an_old_row(
    account: Account, settings: Settings, small_batches: None
) -> None:
    add_requests(account, 9, 9, 2, 2, 1, 1, 1, 1)
    settings.LOG_RETENTION_DAYS = 4
    with CaptureQueriesContext(connection) as queries:
        delete_old_log_entries()
    on_log = [query["sql"][:6] for query in queries if '"validation_logentry"' in query["sql"]]
    assert on_log == ["SELECT", "DELETE", "SELECT"]


def test_nothing_is_logged_with_a_retention_of_0_days(
    caller: ApiClient, account: Account, owner: User
) -> None:
    caller.validate(ADDRESS)
    change_log_days(account=account, days=0, actor=owner)
    responses = [caller.validate(ADDRESS, Idempotency_Key="order-1") for _ in range(2)]
    refused = caller.validate("internal_error@sandbox.test")
    assert [response.status_code for response in (*responses, refused)] == [200, 200, 500]
    assert responses[1].headers["Idempotent-Replayed"] == "true"
    assert LogEntry.objects.count() == 1
    assert sum(use.calls for use in UseHour.objects.filter(account=account)) == 2
    delete_old_log_entries()
    assert not LogEntry.objects.exists()


def test_old_replays_are_deleted_in_batches(account: Account, small_batches: None) -> None:
    for number in range(5):
        add_replay(account, f"order-{number}")
    Replay.objects.update(created_at=timezone.now() - timedelta(hours=25))
    add_replay(account, "order-new")
    delete_old_replays()
    assert Replay.objects.count() == 1
