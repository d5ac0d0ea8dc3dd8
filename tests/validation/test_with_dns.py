"""The engine behind the API: its verdict is answered, recorded and paid for."""

from collections.abc import Iterator

import dns.message
import dns.rrset
import pytest
from pytest_django import Settings

from accounts.engine import engine
from tests.caller import Caller
from tests.servers.dns import Behaviour, World, dns_server, servfail, silence
from validation.models import LogEntry

pytestmark = pytest.mark.django_db


def of_another_identifier(query: dns.message.Message) -> bytes:
    """As a forger would guess it: that the domain takes no mail."""
    message = dns.message.make_response(query)
    name = query.question[0].name
    message.answer.append(dns.rrset.from_text(name, 60, "IN", "MX", "0 ."))
    message.id ^= 0xFF
    return message.to_wire()


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


@pytest.mark.parametrize("trouble", [silence, servfail, of_another_identifier])
def test_a_resolver_in_trouble_costs_nobody_a_credit_and_known_domains_nothing(
    caller: Caller, world: World, settings: Settings, trouble: Behaviour
) -> None:
    settings.DNS_TIMEOUT = 0.3
    engine.cache_clear()
    world.takes_mail("shop.com")
    assert caller.validate("jane@shop.com").json()["verdict"] == "deliverable"
    world.always = trouble
    known, unknown = (caller.validate(f"jane@{name}.com").json() for name in ("shop", "other"))
    assert (known["verdict"], known["credits"]["charged"]) == ("deliverable", 1)
    assert (unknown["verdict"], unknown["credits"]["charged"]) == ("unknown", 0)
    world.always = None
    world.takes_mail("third.com")
    assert caller.validate("jane@third.com").json()["verdict"] == "deliverable"


def test_the_sandbox_asks_nobody(caller: Caller, world: World) -> None:
    assert caller.validate("deliverable@sandbox.test").json()["dns_cached"] is None
    assert not world.asked
