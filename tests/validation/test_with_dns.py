"""The engine behind the API: its verdict is answered, recorded and paid for."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.engine import engine
from tests.caller import Caller
from tests.servers.dns import World, dns_server, servfail
from validation.models import LogEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(settings: Settings) -> Iterator[World]:
    scripted = World()
    with dns_server(scripted) as server:
        settings.DNS_RESOLVERS = [server]
        engine.cache_clear()
        yield scripted
    engine.cache_clear()


def test_a_deliverable_address_costs_a_credit(caller: Caller, world: World) -> None:
    world.takes_mail("shop.com", "aspmx.l.google.com")
    first, second = (caller.validate("Jane+news@shop.com").json() for _ in range(2))
    assert (first["verdict"], first["reason"]) == ("deliverable", "domain_accepts_mail")
    assert (first["mx"]["provider"], first["canonical"]) == ("google", "jane@shop.com")
    assert [one["dns_cached"] for one in (first, second)] == [False, True]
    assert [one["credits"]["charged"] for one in (first, second)] == [1, 1]
    assert LogEntry.objects.filter(verdict="deliverable", domain="shop.com").count() == 2


def test_an_unknown_is_free_and_asked_again_under_the_same_key(
    caller: Caller, world: World
) -> None:
    world.behaves("shop.com", "MX", servfail)
    unknown = caller.validate("jane@shop.com", idempotency_key="one").json()
    assert (unknown["reason"], unknown["retry_after_s"]) == ("dns_failure", 300)
    assert unknown["credits"]["charged"] == 0
    world.behaviours.clear()
    world.takes_mail("shop.com")
    engine.cache_clear()
    again = caller.validate("jane@shop.com", idempotency_key="one").json()
    assert (again["verdict"], again["credits"]["charged"]) == ("deliverable", 1)


def test_the_sandbox_asks_nobody(caller: Caller, world: World) -> None:
    assert caller.validate("deliverable@sandbox.test").json()["dns_cached"] is None
    assert not world.asked
