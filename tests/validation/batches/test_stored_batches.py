"""The stored results of batches: one row for each batch, from which each result can be read."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from tests.support.api_client import ApiClient
from validation.charging.lost_charges import buffer, record_lost_charge
from validation.erasure import erase_address
from validation.models import LogEntry, StoredResult
from validation.request_log.data import delete_requests
from validation.request_log.retention import delete_old_results
from validation.results import stored_results

pytestmark = pytest.mark.django_db

# Definite, unknown, free, and not an address.
EMAILS = ["jane@localhost", "joe@unknown-shop.com", "deliverable@sandbox.test", "no address"]


def send(caller: ApiClient, emails: list[str], **headers: str) -> list[dict[str, Any]]:
    """Return the results of a batch."""
    response = caller.validate_batch(emails, **headers)
    assert response.status_code == 200, response.content
    results: list[dict[str, Any]] = response.json()["results"]
    return results


def get_result(caller: ApiClient, result: dict[str, Any]) -> Any:
    return caller.get(f"/v1/validations/{result['id']}")


def are_stored(caller: ApiClient, results: list[dict[str, Any]]) -> list[bool]:
    statuses = [get_result(caller, result).status_code for result in results]
    assert set(statuses) <= {200, 404}
    return [status == 200 for status in statuses]


def erase(account: Account | None, email: str, actor: User) -> None:
    erase_address(email=email, account=account, actor=actor)


def store_like_previous_release(batch: list[dict[str, Any]], account: Account) -> None:
    """Replace the batch's row by a row for each result."""
    StoredResult.objects.all().delete()
    for result in batch:
        document = {**result, "credits": {"charged": result["credits"]["charged"]}}
        del document["duplicate_of"]
        packed = stored_results.pack(json.dumps(document).encode())
        StoredResult.objects.create(result_id=result["id"], account=account, packed=packed)


@pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": "import-1"}])
def test_batch_is_stored_in_one_row(caller: ApiClient, headers: dict[str, str]) -> None:
    results = send(caller, [*EMAILS, EMAILS[0]], **headers)
    batch_id = LogEntry.objects.values_list("batch_id", flat=True).distinct().get()
    assert StoredResult.objects.get().result_id == batch_id
    for result in results[:-1]:
        stored = get_result(caller, result).json()
        for each in (result, stored):
            del each["credits"]["remaining"]
        assert stored | {"duplicate_of": None} == result


def test_result_of_a_replayed_batch_is_found(caller: ApiClient) -> None:
    send(caller, EMAILS, Idempotency_Key="import-1")
    results = send(caller, EMAILS, Idempotency_Key="import-1")
    assert LogEntry.objects.filter(result_id=results[0]["id"]).count() == 2
    assert all(are_stored(caller, results))


def test_other_accounts_do_not_find_the_batch(caller: ApiClient, other_caller: ApiClient) -> None:
    results = send(caller, EMAILS)
    assert not any(are_stored(other_caller, results))
    assert all(are_stored(caller, results))


def test_erasing_an_address_keeps_the_other_results_of_its_batch(
    caller: ApiClient, account: Account, owner: User
) -> None:
    results = send(caller, ["jane@localhost", *EMAILS[1:], " JANE@localhost"])
    before = [get_result(caller, result).content for result in results]
    erase(account, "Jane@localhost", owner)
    assert are_stored(caller, results) == [False, True, True, True, False]
    after = [get_result(caller, result).content for result in results[1:4]]
    assert after == before[1:4]
    stored = stored_results.unpack(StoredResult.objects.get().packed)
    assert "jane" not in json.dumps(stored).lower()


def test_erasing_an_address_erases_it_from_each_batch(
    caller: ApiClient, account: Account, owner: User
) -> None:
    batches = [send(caller, EMAILS), send(caller, EMAILS[::-1])]
    single = caller.validate("no address").json()
    erase(account, "no address", owner)
    assert are_stored(caller, [*batches[0], *batches[1], single]) == [
        *(True, True, True, False),
        *(False, True, True, True),
        False,
    ]


def test_erasing_all_addresses_of_a_batch_deletes_its_row(
    caller: ApiClient, account: Account, owner: User
) -> None:
    send(caller, EMAILS[:2])
    for email in EMAILS[:2]:
        erase(account, email, owner)
    assert not StoredResult.objects.exists()


def test_erasing_for_one_account_keeps_the_batches_of_others(
    caller: ApiClient, account: Account, owner: User, other_caller: ApiClient
) -> None:
    ours, others = send(caller, EMAILS), send(other_caller, EMAILS)
    erase(account, EMAILS[0], owner)
    assert are_stored(caller, ours) == [False, True, True, True]
    assert all(are_stored(other_caller, others))
    erase(None, EMAILS[0], owner)
    assert are_stored(other_caller, others) == [False, True, True, True]


def test_erasing_an_address_deletes_a_batch_that_can_not_be_read(
    caller: ApiClient, account: Account, owner: User, settings: Settings
) -> None:
    """The API can't return its results, but the removed key can still decrypt the address."""
    results = send(caller, EMAILS)
    settings.SECRET_KEY = "another" * 10
    assert not any(are_stored(caller, results))
    erase(account, EMAILS[0], owner)
    assert not StoredResult.objects.exists()


def test_results_that_the_previous_release_stored_are_read_and_erased(
    caller: ApiClient, account: Account, owner: User
) -> None:
    results = send(caller, EMAILS)
    store_like_previous_release(results, account)
    assert all(are_stored(caller, results))
    erase(account, EMAILS[0], owner)
    assert are_stored(caller, results) == [False, True, True, True]
    delete_requests(account=account)
    assert not StoredResult.objects.exists()


def test_daily_job_keeps_results_and_batches_within_the_retention(caller: ApiClient) -> None:
    """Ids of batches sort before those of results, whatever their times are."""
    with time_machine.travel(timezone.now() - timedelta(hours=25)):
        old = [*send(caller, EMAILS), caller.validate("no address").json()]
    recent = [*send(caller, EMAILS), caller.validate("no address").json()]
    delete_old_results()
    assert StoredResult.objects.count() == 2
    assert not any(are_stored(caller, old))
    assert all(are_stored(caller, recent))


def test_refunded_batch_is_not_stored(caller: ApiClient, account: Account) -> None:
    results = send(caller, EMAILS)
    for result in results:
        if result["credits"]["charged"]:
            record_lost_charge(account, result["id"], 1)
    buffer.flush()
    account.wallet.refresh_from_db()
    assert account.wallet.balance == 100
    assert not StoredResult.objects.exists()
