"""Refusals are counted by account, key and hour; 429s are in no other log."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey, RefusalHour
from apikeys.models.refusals import delete_old_refusals, refusals
from apikeys.services import create_key, revoke_key
from tests.servers.books import fetch_number
from tests.servers.client import HttpCaller
from tests.servers.product import Product, product
from tests.support.api_client import ApiClient, error_code
from tests.support.waiting import wait_until
from validation.models import LogEntry

pytestmark = pytest.mark.django_db


def stored_counts() -> dict[tuple[str | None, str], int]:
    refusals.flush()
    rows = RefusalHour.objects.values_list("key__name", "code", "calls")
    return {(key, code): calls for key, code, calls in rows}


def test_each_refusal_of_a_key_is_counted(account: Account, owner: User) -> None:
    _, secret = create_key(account=account, name="Server", actor=owner, requests_per_minute=3)
    caller = ApiClient(secret)
    assert error_code(caller.get("/v1/nothing")) == "not_found"
    for _ in range(4):
        caller.send(b"{}")
    assert stored_counts() == {
        ("Server", "not_found"): 1,
        ("Server", "missing_field"): 2,
        ("Server", "rate_limit_exceeded"): 2,
    }
    caller.send(b"{}")
    assert stored_counts()["Server", "rate_limit_exceeded"] == 3
    assert LogEntry.objects.count() == 3


def test_refusal_of_a_revoked_key_is_counted_for_the_key(
    key: ApiKey, caller: ApiClient, owner: User
) -> None:
    revoke_key(key=key, actor=owner)
    assert caller.validate("jane").status_code == 401
    assert stored_counts() == {(key.name, "api_key_revoked"): 1}


def test_accepted_request_and_unknown_key_are_not_counted(caller: ApiClient) -> None:
    ApiClient("svc_live_" + "0" * 38).validate("jane")
    assert caller.validate("deliverable@sandbox.test").status_code == 200
    assert stored_counts() == {}


def test_old_counts_are_deleted(account: Account) -> None:
    now = timezone.now()
    for days in (100, 10):
        RefusalHour.objects.create(
            account_id=account.pk, key_id=None, hour=now - timedelta(days=days), code="x", calls=1
        )
    delete_old_refusals()
    assert RefusalHour.objects.count() == 1


@pytest.mark.process
@pytest.mark.proof
def test_web_worker_writes_its_counts_soon_and_when_it_stops(tmp_path: Path) -> None:
    with product(tmp_path, WEB_WORKERS="1") as site:
        caller = HttpCaller(site, site.owner_key())
        for _ in range(20):
            assert caller.get("/v1/nothing").status == 404
        wait_until(lambda: count_calls(site) == 20)
        for _ in range(7):
            caller.get("/v1/nothing")
    assert count_calls(site) == 27
    # The request log is written, too.
    assert fetch_number(site, "SELECT COUNT(*) FROM validation_logentry WHERE status = 404") == 27


def count_calls(site: Product) -> int:
    return fetch_number(site, "SELECT SUM(calls) FROM apikeys_refusalhour")
