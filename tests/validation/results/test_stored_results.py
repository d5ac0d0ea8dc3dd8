"""GET /v1/validations/{id}: results that were returned before."""

import hashlib
import json
import random
import string
import zlib
from base64 import b64encode
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import change_log_days
from credits.services import grant
from runtime.encryption import encrypt_bytes
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient, error_code
from validation.charging.lost_charges import buffer, record_lost_charge
from validation.erasure import erase_address
from validation.ids import new_result_id
from validation.models import LogEntry, StoredResult
from validation.request_log.data import delete_requests
from validation.request_log.retention import delete_old_log_entries, delete_old_results
from validation.results import stored_results
from validation.results.api import NOT_STORED

pytestmark = pytest.mark.django_db

NO_ADDRESS = "no address"
MAX_BYTES = 600
LATER_CHECKS = ("machine_address", "placeholder")


def get_result(caller: ApiClient, result_id: str) -> Any:
    return caller.get(f"/v1/validations/{result_id}")


def validate_all(caller: ApiClient) -> list[str]:
    """Return the ids of the results of a call and of a batch."""
    batch = caller.validate_batch([NO_ADDRESS, "another"]).json()["results"]
    return [result["id"] for result in (caller.validate(NO_ADDRESS).json(), *batch)]


def any_stored(caller: ApiClient, result_ids: list[str]) -> bool:
    return any(is_stored(caller, result_id) for result_id in result_ids)


def is_stored(caller: ApiClient, result_id: str) -> bool:
    response = get_result(caller, result_id)
    assert response.status_code in (200, 404)
    return bool(response.status_code == 200)


def test_stored_result_is_the_first_one(caller: ApiClient, fake_dns: FakeDns) -> None:
    fake_dns.records["shop.com", "MX"] = ["10 mx1.shop.com.", "20 mx2.shop.com."]
    fake_dns.records["mx1.shop.com", "A"] = ["8.8.8.8"]
    for email in (
        *("jane@shop.com", "Jane.Doe+news@SHOP.com", "jürgen@bücher.de", NO_ADDRESS, "a@b\0.com"),
        *("jane@timeout.com", "deliverable@sandbox.test", "dns_timeout@sandbox.test"),
        *(f"{'a' * 64}@{'b' * 60}.com", "x" * 320, "\u202ejane@shop.com", "info@shop.com"),
    ):
        returned = caller.validate(email)
        stored = get_result(caller, returned.json()["id"])
        assert (stored.status_code, stored.content) == (200, returned.content)


def test_result_is_free_and_shows_the_balance_of_today(caller: ApiClient, account: Account) -> None:
    first, _ = caller.validate(NO_ADDRESS).json(), caller.validate(NO_ADDRESS)
    again = get_result(caller, first["id"]).json()
    assert first["credits"] == {"charged": 1, "held": 0, "remaining": 99}
    assert again["credits"] == {"charged": 1, "held": 0, "remaining": 98}
    account.wallet.refresh_from_db()
    assert account.wallet.balance == 98
    type(account.wallet).objects.update(balance=0)
    assert get_result(caller, first["id"]).json()["credits"]["remaining"] == 0


def test_other_accounts_do_not_find_the_result(caller: ApiClient, other_caller: ApiClient) -> None:
    result = caller.validate(NO_ADDRESS).json()
    assert error_code(get_result(other_caller, result["id"])) == "not_found"
    assert is_stored(caller, result["id"])


MALFORMED = [
    *("val_1", "bat_06H0F0CMZ0DBZXA6NK1AMB66FA", "lst_" + "a" * 20, "%00", "%D9%A3" * 30),
    *("val_" + "U" * 26, f"val_{'0' * 27}", f"val_{'0' * 26}%0A", "x" * 2000),
]


def test_unknown_and_malformed_ids_get_the_same_404(caller: ApiClient) -> None:
    unknown = ("val_06H0F0CMZ0DBZXA6NK1AMB66FA", "val_7" + "Z" * 25, "val_" + "0" * 26)
    for result_id in (*unknown, *MALFORMED):
        for rest in ("", "/"):
            response = get_result(caller, f"{result_id}{rest}")
            assert (response.status_code, error_code(response)) == (404, "not_found"), result_id
            assert response.json()["error"]["message"] == NOT_STORED


def test_unknown_id_is_404_before_any_other_method_is_405(caller: ApiClient) -> None:
    result = caller.validate(NO_ADDRESS).json()
    path = "/v1/validations/{}"
    assert error_code(caller.call("DELETE", path.format(new_result_id()))) == "not_found"
    assert error_code(caller.call("DELETE", path.format(result["id"]))) == "method_not_allowed"
    assert error_code(caller.get(path.format(result["id"]) + "?fresh=1")) == "unknown_field"


def test_results_expire_before_they_are_deleted(caller: ApiClient) -> None:
    result_ids = validate_all(caller)
    now = timezone.now()
    with time_machine.travel(now + timedelta(hours=24, seconds=-5)):
        assert all(is_stored(caller, result_id) for result_id in result_ids)
    with time_machine.travel(now + timedelta(hours=24, seconds=1)):
        assert not any_stored(caller, result_ids)
        assert StoredResult.objects.count() == 2
        delete_old_results()
        assert StoredResult.objects.count() == 0


def test_retention_of_0_hours_stores_nothing(caller: ApiClient, settings: Settings) -> None:
    before = validate_all(caller)
    settings.RESULT_RETENTION_HOURS = 0
    after = validate_all(caller)
    assert not any_stored(caller, before)
    assert LogEntry.objects.filter(result_id__in=after).count() == 3
    assert StoredResult.objects.count() == 2
    with time_machine.travel(timezone.now() + timedelta(seconds=1)):
        delete_old_results()
    assert not StoredResult.objects.exists()


def test_account_that_stores_no_requests_stores_no_results(
    caller: ApiClient, account: Account, owner: User
) -> None:
    before = validate_all(caller)
    change_log_days(account=account, days=0, actor=owner)
    after = validate_all(caller)
    assert not any_stored(caller, before + after)
    assert StoredResult.objects.count() == 2
    delete_old_log_entries()
    assert not StoredResult.objects.exists()


def test_erased_address_has_no_results(caller: ApiClient, account: Account, owner: User) -> None:
    erased, other = caller.validate(NO_ADDRESS).json(), caller.validate("another").json()
    erase_address(email=NO_ADDRESS.upper(), account=account, actor=owner)
    assert not is_stored(caller, erased["id"])
    assert StoredResult.objects.get().result_id == other["id"]


def test_erasing_an_account_erases_its_results(caller: ApiClient, account: Account) -> None:
    validate_all(caller)
    delete_requests(account=account)
    assert not StoredResult.objects.exists()


def test_refunded_result_is_not_stored(caller: ApiClient, account: Account) -> None:
    result = caller.validate(NO_ADDRESS).json()
    record_lost_charge(account, result["id"], 1)
    buffer.flush()
    assert LogEntry.objects.filter(cost=0).count() == 1
    assert not StoredResult.objects.exists()


def test_addresses_are_stored_encrypted(caller: ApiClient) -> None:
    caller.validate("jane.distinctive@sandbox.test")
    packed = StoredResult.objects.get().packed
    assert "distinctive" not in packed
    assert stored_results.unpack(packed)[0]["email"] == "jane.distinctive@sandbox.test"


def test_result_with_unlucky_facts_is_stored_in_600_bytes(
    caller: ApiClient, fake_dns: FakeDns, account: Account
) -> None:
    """Ten mail hosts with long random names, at a long random address."""
    grant(account=account, amount=100, reason="Tests", actor=None)
    letters = random.Random(1)

    def name(length: int) -> str:
        return "".join(letters.choices(string.ascii_lowercase, k=length))

    domain = f"{name(30)}.com"
    hosts = [f"{name(12)}.mail.{domain}" for _ in range(10)]
    fake_dns.records[domain, "MX"] = [f"{index} {host}." for index, host in enumerate(hosts)]
    fake_dns.records |= {(host, "A"): ["8.8.8.8"] for host in hosts}
    result = caller.validate(f"{name(30)}+{name(20)}@{domain}").json()
    assert len(result["mx"]["records"]) == 10
    assert len(StoredResult.objects.get().packed) < MAX_BYTES


def test_result_of_a_removed_secret_key_is_404(caller: ApiClient, settings: Settings) -> None:
    result_ids = validate_all(caller)
    previous, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    assert not any_stored(caller, result_ids)
    settings.SECRET_KEY_FALLBACKS = [previous]
    assert all(is_stored(caller, result_id) for result_id in result_ids)


def test_dictionary_is_the_one_of_stored_results() -> None:
    digest = hashlib.sha256(stored_results._DICTIONARY).hexdigest()
    assert digest == "7324ce04fbdb0b8f58a5476c0268f3e0986801ee864e4ad1b8aad0e2c57befb0"


def test_result_of_another_dictionary_is_404(caller: ApiClient) -> None:
    result_id = caller.validate(NO_ADDRESS).json()["id"]
    compressor = zlib.compressobj(zdict=b'"verdict":"deliverable"')
    compressed = compressor.compress(b'{"verdict":"deliverable"}') + compressor.flush()
    StoredResult.objects.update(packed=b64encode(encrypt_bytes(compressed)).decode())
    assert not is_stored(caller, result_id)


def test_result_of_an_earlier_release_has_null_in_later_fields(caller: ApiClient) -> None:
    returned = caller.validate("deliverable@sandbox.test").json()
    [earlier] = stored_results.unpack(StoredResult.objects.get().packed)
    del earlier["lookalike_of"]
    for name in LATER_CHECKS:
        del earlier["checks"][name]
    StoredResult.objects.update(packed=stored_results.pack(json.dumps(earlier).encode()))
    result = get_result(caller, returned["id"]).json()
    assert result == {**returned, "checks": returned["checks"] | dict.fromkeys(LATER_CHECKS)}
