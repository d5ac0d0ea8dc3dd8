"""How the responses to replay are stored, for how long, and when they are erased."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import change_log_days
from credits.models import Wallet
from tests.support.api_client import ApiClient
from validation.erasure import erase_address
from validation.models import Replay, StoredResult
from validation.request_log.data import delete_requests
from validation.request_log.retention import (
    delete_old_log_entries,
    delete_old_replays,
    delete_old_results,
)
from validation.results.stored_results import pack

pytestmark = pytest.mark.django_db

DEFINITE, SANDBOX = "no address", "risky@sandbox.test"


def validate(caller: ApiClient, email: str = DEFINITE, key: str = "order-1") -> Any:
    response = caller.validate(email, Idempotency_Key=key)
    assert response.status_code == 200, response.content
    return response


def validate_batch(caller: ApiClient, *emails: str, key: str = "batch-1") -> Any:
    return caller.validate_batch(emails, Idempotency_Key=key)


def create_list(caller: ApiClient) -> Any:
    return caller.call("POST", "/v1/lists", b'{"parts": true}', Idempotency_Key="list-1")


def is_replay(response: Any) -> bool:
    return "Idempotent-Replayed" in response.headers


def run_daily_jobs() -> None:
    delete_old_replays()
    delete_old_results()
    delete_old_log_entries()


@pytest.fixture
def stores_nothing(account: Account, owner: User) -> None:
    change_log_days(account=account, days=0, actor=owner)


def test_response_and_idempotency_key_are_not_stored_in_plain_text(caller: ApiClient) -> None:
    validate(caller, "jane.distinctive@sandbox.test", "svc_live_mistaken_for_it")
    stored = str([*Replay.objects.values(), *StoredResult.objects.values()])
    assert "distinctive" not in stored
    assert "svc_live" not in stored


def test_idempotency_key_adds_no_stored_result(caller: ApiClient) -> None:
    for number in range(3):
        validate(caller, key=f"order-{number}")
    validate_batch(caller, DEFINITE, "another")
    assert StoredResult.objects.count() == 4


def test_first_call_with_a_key_looks_up_the_key_and_writes_one_statement(caller: ApiClient) -> None:
    caller.validate(DEFINITE)
    with CaptureQueriesContext(connection) as without_key:
        caller.validate(DEFINITE)
    with CaptureQueriesContext(connection) as with_key:
        validate(caller)
    # SQLite has no statement that inserts into several tables.
    more = 1 if connection.vendor == "postgresql" else 2
    assert len(with_key) - len(without_key) == more


@pytest.mark.parametrize("balance", [100, 11, 2, 1])
def test_replay_has_the_balance_after_the_charge(
    caller: ApiClient, account: Account, balance: int
) -> None:
    """A charge that queues an email about the balance takes more than one statement."""
    Wallet.objects.filter(account=account).update(balance=balance)
    first = validate(caller)
    assert first.json()["credits"] == {"charged": 1, "held": 0, "remaining": balance - 1}
    assert validate(caller).content == first.content


@pytest.mark.usefixtures("stores_nothing")
@pytest.mark.parametrize("email", [DEFINITE, SANDBOX])
def test_account_that_stores_nothing_gets_replays(caller: ApiClient, email: str) -> None:
    first, batch = validate(caller, email), validate_batch(caller, email, email)
    run_daily_jobs()
    assert validate(caller, email).content == first.content
    assert validate_batch(caller, email, email).content == batch.content
    assert caller.get(f"/v1/validations/{first.json()['id']}").status_code == 404


@pytest.mark.usefixtures("stores_nothing")
def test_account_that_stores_nothing_keeps_no_response_for_longer(
    caller: ApiClient, settings: Settings
) -> None:
    settings.RESULT_RETENTION_HOURS = 720
    validate(caller)
    validate_batch(caller, DEFINITE, "another")
    create_list(caller)
    with time_machine.travel(timezone.now() + timedelta(hours=24, seconds=1)):
        run_daily_jobs()
    assert not Replay.objects.exists()
    assert not StoredResult.objects.exists()


@pytest.mark.parametrize("hours", [0, 1])
def test_replays_do_not_depend_on_the_retention_of_results(
    caller: ApiClient, settings: Settings, hours: int
) -> None:
    settings.RESULT_RETENTION_HOURS = hours
    now = timezone.now()
    first, batch, created = validate(caller), validate_batch(caller, DEFINITE), create_list(caller)
    with time_machine.travel(now + timedelta(hours=23, minutes=59)):
        run_daily_jobs()
        assert caller.get(f"/v1/validations/{first.json()['id']}").status_code == 404
        assert validate(caller).content == first.content
        assert validate_batch(caller, DEFINITE).content == batch.content
        assert create_list(caller).content == created.content
    with time_machine.travel(now + timedelta(hours=24, seconds=1)):
        run_daily_jobs()
        assert not StoredResult.objects.exists()
        assert not is_replay(validate(caller))


def test_replays_stay_when_the_account_stops_storing_requests(
    caller: ApiClient, account: Account, owner: User
) -> None:
    first, batch = validate(caller), validate_batch(caller, DEFINITE)
    caller.validate(DEFINITE)
    change_log_days(account=account, days=0, actor=owner)
    run_daily_jobs()
    assert StoredResult.objects.count() == 2
    assert validate(caller).content == first.content
    assert validate_batch(caller, DEFINITE).content == batch.content


def test_response_of_a_removed_key_is_not_replayed(caller: ApiClient, settings: Settings) -> None:
    first = validate(caller)
    previous, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    settings.SECRET_KEY_FALLBACKS = [previous]
    assert validate(caller).content == first.content
    settings.SECRET_KEY_FALLBACKS = []
    assert not is_replay(validate(caller))
    assert is_replay(validate(caller))


@pytest.mark.usefixtures("stores_nothing")
def test_address_is_erased_from_the_responses_of_an_account_that_stores_nothing(
    caller: ApiClient, account: Account, owner: User
) -> None:
    validate(caller)
    validate_batch(caller, DEFINITE)
    other = validate(caller, "another", "order-2")
    erase_address(email=DEFINITE.upper(), account=account, actor=owner)
    assert StoredResult.objects.get().result_id == other.json()["id"]
    assert not is_replay(validate(caller))
    assert validate(caller, "another", "order-2").content == other.content


def test_half_erased_batch_is_not_replayed(caller: ApiClient) -> None:
    """Its results are rewritten before its replay is deleted."""
    _, other = validate_batch(caller, DEFINITE, "another").json()["results"]
    StoredResult.objects.update(packed=pack(b"[%b]" % json.dumps(other).encode()))
    assert not is_replay(validate_batch(caller, DEFINITE, "another"))
    assert is_replay(validate_batch(caller, DEFINITE, "another"))


@pytest.mark.usefixtures("stores_nothing")
def test_erasing_an_account_erases_its_responses(caller: ApiClient, account: Account) -> None:
    validate(caller)
    delete_requests(account=account)
    assert not StoredResult.objects.exists()
    assert not Replay.objects.exists()
