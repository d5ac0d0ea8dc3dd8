"""The hourly limit on lookups that exhaust their message budget."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from apikeys.throttling import limits
from config.settings.caches import cache_settings
from tests.engine.hostile_domains import endless_aliases
from tests.servers.dns import FakeDns
from tests.servers.redis import redis
from tests.support.api_client import ApiClient
from validation.lookup_limits import AccountLookupLimit, forget_counts

pytestmark = [*(pytest.mark.django_db, pytest.mark.anywhere), pytest.mark.usefixtures("fake_dns")]


@pytest.fixture
def fake_dns(fake_dns: FakeDns) -> FakeDns:
    fake_dns.add_mail_domain("known.com")
    fake_dns.add_mail_domain("shop.com")
    endless_aliases(fake_dns, "costly.com")
    return fake_dns


def exhaust_lookups(account: Account, *, all_but: int = 0) -> None:
    for _ in range(10 * account.request_limit - all_but):
        AccountLookupLimit(account).record_exhausted()


def validate(caller: ApiClient, email: str) -> dict[str, Any]:
    response = caller.validate(email)
    assert response.status_code == 200, response.content
    document: dict[str, Any] = response.json()
    return document


def assert_no_lookup(result: dict[str, Any]) -> None:
    assert (result["verdict"], result["reason"]) == ("unknown", "dns_failure")
    assert (result["retry_after_s"], result["credits"]["charged"]) == (600, 0)
    assert result["dns_cached"] is None


def test_after_too_many_exhausted_lookups_uncached_domains_are_unknown_without_a_lookup(
    caller: ApiClient, account: Account, fake_dns: FakeDns
) -> None:
    assert validate(caller, "jane@known.com")["verdict"] == "deliverable"
    exhaust_lookups(account, all_but=1)
    last = validate(caller, "jane@costly.com")
    assert (last["reason"], last["retry_after_s"]) == ("dns_failure", 300)
    messages = fake_dns.messages
    assert_no_lookup(validate(caller, "jane@shop.com"))
    assert fake_dns.messages == messages


def test_addresses_without_a_lookup_and_other_accounts_are_unaffected(
    caller: ApiClient, account: Account, other_caller: ApiClient
) -> None:
    validate(caller, "jane@known.com")
    exhaust_lookups(account)
    known = validate(caller, "joe@known.com")
    assert (known["verdict"], known["credits"]["charged"]) == ("deliverable", 1)
    assert validate(caller, "no address")["reason"] == "invalid_syntax"
    disposable = validate(caller, "jane@mailinator.com")
    assert (disposable["reason"], disposable["retry_after_s"]) == ("disposable", None)
    assert validate(other_caller, "jane@shop.com")["verdict"] == "deliverable"


def test_lookups_run_again_in_the_next_hour(caller: ApiClient, account: Account) -> None:
    exhaust_lookups(account)
    assert_no_lookup(validate(caller, "jane@shop.com"))
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        assert validate(caller, "jane@shop.com")["verdict"] == "deliverable"


def test_lookups_within_their_budget_are_not_counted(caller: ApiClient, account: Account) -> None:
    exhaust_lookups(account, all_but=1)
    for name in ("shop.com", "nowhere.com"):
        validate(caller, f"jane@{name}")
    assert AccountLookupLimit(account).allows_lookup()


@pytest.fixture(params=["sqlite", "redis"])
def _store(request: pytest.FixtureRequest, settings: Settings) -> Iterator[None]:
    if request.param == "sqlite":
        yield
        return
    with redis() as url:
        settings.CACHES = cache_settings(url, settings.DATA_DIR / "unused")
        yield


@pytest.mark.usefixtures("_store")
def test_workers_share_the_count(account: Account) -> None:
    exhaust_lookups(account, all_but=1)
    forget_counts()
    assert AccountLookupLimit(account).allows_lookup()
    AccountLookupLimit(account).record_exhausted()
    forget_counts()
    assert not AccountLookupLimit(account).allows_lookup()


def test_worker_uses_its_own_count_while_the_store_is_unavailable(
    account: Account, settings: Settings
) -> None:
    broken = {**settings.CACHES["counters"], "LOCATION": "/dev/null/counters"}
    settings.CACHES = {**settings.CACHES, "hourly_counters": broken}
    try:
        exhaust_lookups(account, all_but=1)
        assert AccountLookupLimit(account).allows_lookup()
        AccountLookupLimit(account).record_exhausted()
        assert not AccountLookupLimit(account).allows_lookup()
    finally:
        limits._breaker.is_open = False
