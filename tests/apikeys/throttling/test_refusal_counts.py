"""Refusals are counted by account, key and hour; a 429 is nothing but a count."""

import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey, RefusalHour
from apikeys.services import create_key, revoke_key
from apikeys.throttling.refusal_counts import count_refusal, delete_old_refusals, refusals
from tests.servers.books import number
from tests.servers.client import HttpCaller
from tests.servers.product import Product, product
from tests.support.api_client import ApiClient, code_of
from validation.models import LogEntry

pytestmark = pytest.mark.django_db


def counted() -> dict[tuple[str | None, str], int]:
    refusals.write()
    rows = RefusalHour.objects.values_list("key__name", "code", "calls")
    return {(key, code): calls for key, code, calls in rows}


def test_each_refusal_of_a_key_is_counted(account: Account, owner: User) -> None:
    _, secret = create_key(account=account, name="Server", actor=owner, requests_per_minute=3)
    caller = ApiClient(secret)
    assert code_of(caller.get("/v1/nothing")) == "not_found"
    for _ in range(4):
        caller.send(b"{}")
    assert counted() == {
        ("Server", "not_found"): 1,
        ("Server", "missing_field"): 2,
        ("Server", "rate_limit_exceeded"): 2,
    }
    caller.send(b"{}")
    assert counted()["Server", "rate_limit_exceeded"] == 3
    assert LogEntry.objects.count() == 3


def test_a_key_that_is_no_longer_valid_is_known(
    key: ApiKey, caller: ApiClient, owner: User
) -> None:
    revoke_key(key=key, actor=owner)
    assert caller.validate("jane").status_code == 401
    assert counted() == {(key.name, "api_key_revoked"): 1}


def test_what_belongs_to_nobody_is_not_counted(account: Account) -> None:
    ApiClient("svc_live_" + "0" * 38).validate("jane")
    assert counted() == {}


def test_an_answer_is_no_refusal(caller: ApiClient) -> None:
    assert caller.validate("deliverable@sandbox.test").status_code == 200
    assert counted() == {}


def test_the_playground_is_counted_without_a_key(account: Account) -> None:
    count_refusal(account.pk, None, "rate_limit_exceeded")
    count_refusal(account.pk, None, "rate_limit_exceeded")
    assert counted() == {(None, "rate_limit_exceeded"): 2}
    count_refusal(account.pk, None, "rate_limit_exceeded")
    assert counted() == {(None, "rate_limit_exceeded"): 3}


def test_old_counts_go(account: Account) -> None:
    now = timezone.now()
    for days in (100, 10):
        RefusalHour.objects.add(
            account_id=account.pk, key_id=None, hour=now - timedelta(days=days), code="x", calls=1
        )
    delete_old_refusals()
    assert RefusalHour.objects.count() == 1


@pytest.mark.process
def test_a_web_worker_writes_its_counts_soon_and_when_it_stops(tmp_path: Path) -> None:
    with product(tmp_path, WEB_WORKERS="1") as site:
        caller = HttpCaller(site, site.owner_key())
        for _ in range(20):
            assert caller.get("/v1/nothing").status == 404
        ends_at = time.monotonic() + 20
        while _calls(site) < 20 and time.monotonic() < ends_at:
            time.sleep(0.2)
        assert _calls(site) == 20
        for _ in range(7):
            caller.get("/v1/nothing")
    assert _calls(site) == 27
    # And the rows of the request log.
    assert number(site, "SELECT COUNT(*) FROM validation_logentry WHERE status = 404") == 27


def _calls(site: Product) -> int:
    return number(site, "SELECT SUM(calls) FROM apikeys_refusalhour")
