"""What becomes of accounts whose lookups use up their budgets of messages again and again."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.engine import engine
from accounts.models import Account
from apikeys.services import create_key
from apikeys.throttling import limits
from config.settings.caches import cache_settings
from tests.servers.dns import World, dns_server
from tests.servers.redis import redis
from tests.support.api_client import ApiClient
from tests.validation.engine.hostile_domains import endless_aliases
from validation.lookup_limits import ExhaustedLookups, exhausted_lookups

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(settings: Settings) -> Iterator[World]:
    scripted = World()
    scripted.takes_mail("known.com")
    scripted.takes_mail("shop.com")
    endless_aliases(scripted, "loud.com")
    with dns_server(scripted) as server:
        settings.DNS_RESOLVERS = [server]
        engine.cache_clear()
        yield scripted
    engine.cache_clear()


def use_up(account: Account, *, all_but: int = 0) -> None:
    for _ in range(10 * account.request_limit - all_but):
        exhausted_lookups.note(account)


def result_of(caller: ApiClient, email: str) -> dict[str, Any]:
    answer = caller.validate(email)
    assert answer.status_code == 200, answer.content
    document: dict[str, Any] = answer.json()
    return document


def assert_refused(result: dict[str, Any]) -> None:
    assert (result["verdict"], result["reason"]) == ("unknown", "dns_failure")
    assert (result["retry_after_s"], result["credits"]["charged"]) == (600, 0)
    assert result["dns_cached"] is None


def test_after_too_many_exhausted_lookups_uncached_domains_are_unknown_without_a_lookup(
    caller: ApiClient, account: Account, world: World
) -> None:
    assert result_of(caller, "jane@known.com")["verdict"] == "deliverable"
    use_up(account, all_but=1)
    last = result_of(caller, "jane@loud.com")
    assert (last["reason"], last["retry_after_s"]) == ("dns_failure", 300)
    sent = world.messages
    assert_refused(result_of(caller, "jane@shop.com"))
    assert world.messages == sent


def test_cached_domains_are_unaffected(caller: ApiClient, account: Account, world: World) -> None:
    result_of(caller, "jane@known.com")
    use_up(account)
    known = result_of(caller, "joe@known.com")
    assert (known["verdict"], known["credits"]["charged"]) == ("deliverable", 1)


def test_what_needs_no_lookup_is_decided_as_ever(
    caller: ApiClient, account: Account, world: World
) -> None:
    use_up(account)
    assert result_of(caller, "no address")["reason"] == "invalid_syntax"
    disposable = result_of(caller, "jane@mailinator.com")
    assert (disposable["reason"], disposable["retry_after_s"]) == ("disposable", None)


def test_another_account_is_unaffected(account: Account, stranger: Any, world: World) -> None:
    use_up(account)
    other = stranger.memberships.get().account
    secret = create_key(account=other, name="Their server", actor=stranger)[1]
    assert result_of(ApiClient(secret), "jane@shop.com")["verdict"] == "deliverable"


def test_the_next_hour_begins_with_a_lookup(
    caller: ApiClient, account: Account, world: World
) -> None:
    use_up(account)
    assert_refused(result_of(caller, "jane@shop.com"))
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        assert result_of(caller, "jane@shop.com")["verdict"] == "deliverable"


def test_lookups_within_their_budget_are_not_counted(
    caller: ApiClient, account: Account, world: World
) -> None:
    use_up(account, all_but=1)
    for name in ("shop.com", "nowhere.com"):
        result_of(caller, f"jane@{name}")
    assert not exhausted_lookups.are_too_many(account)


@pytest.fixture(params=["sqlite", "redis"])
def _store(request: pytest.FixtureRequest, settings: Settings) -> Iterator[None]:
    if request.param == "sqlite":
        yield
        return
    with redis() as url:
        settings.CACHES = cache_settings(url, settings.DATA_DIR / "unused")
        yield


@pytest.mark.usefixtures("_store")
def test_all_workers_know_what_one_of_them_counted(account: Account) -> None:
    use_up(account, all_but=1)
    assert not ExhaustedLookups().are_too_many(account)
    exhausted_lookups.note(account)
    assert ExhaustedLookups().are_too_many(account)


def test_a_worker_counts_alone_while_the_store_is_unavailable(
    account: Account, settings: Settings
) -> None:
    broken = {"BACKEND": "runtime.cache.sqlite.SQLiteCounters", "LOCATION": "/dev/null/counters"}
    settings.CACHES = {**settings.CACHES, "hourly_counters": broken}
    try:
        use_up(account, all_but=1)
        assert not exhausted_lookups.are_too_many(account)
        exhausted_lookups.note(account)
        assert exhausted_lookups.are_too_many(account)
    finally:
        limits._breaker.is_open = False
