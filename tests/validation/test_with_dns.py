"""The engine behind the API: its verdict is answered, recorded and paid for."""

from collections.abc import Iterator

import dns.message
import dns.rcode
import dns.rrset
import pytest
from django.test import Client
from pytest_django import Settings

from accounts.engine import engine
from config.health import NEEDED, USEFUL
from tests.servers.dns import (
    Behaviour,
    World,
    dns_server,
    inventing,
    servfail,
    silence,
    with_code,
)
from tests.support.api_client import ApiClient
from validation.engine.dns import trust
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


def test_a_deliverable_address_costs_a_credit(caller: ApiClient, world: World) -> None:
    world.takes_mail("shop.com", "aspmx.l.google.com")
    first, second = (caller.validate("Jane+news@shop.com").json() for _ in range(2))
    assert (first["verdict"], first["reason"]) == ("deliverable", "domain_accepts_mail")
    assert (first["mx"]["provider"], first["canonical"]) == ("google", "jane@shop.com")
    assert [one["dns_cached"] for one in (first, second)] == [False, True]
    assert [one["credits"]["charged"] for one in (first, second)] == [1, 1]
    assert LogEntry.objects.filter(verdict="deliverable", domain="shop.com").count() == 2


def test_an_unknown_is_free_and_asked_again_under_the_same_key(
    caller: ApiClient, world: World
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
    caller: ApiClient, world: World, settings: Settings, trouble: Behaviour
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


def resolver_state(client: Client) -> str:
    """As /readyz reports it when it looks for the first time in ten seconds."""
    for check in (*NEEDED.values(), *USEFUL.values()):
        check.found()
        check.forget()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    state: str = answer.json()["resolver"]
    return state


@pytest.fixture
def _fresh_sentinels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """They are asked each time, not every ten seconds."""
    monkeypatch.setattr(trust, "INTERVAL", 0)
    yield
    for check in (*NEEDED.values(), *USEFUL.values()):
        check.found()
        check.forget()


@pytest.mark.usefixtures("_fresh_sentinels")
def test_a_lying_resolver_costs_no_credit_and_is_reported_until_it_stops(
    caller: ApiClient, client: Client, world: World
) -> None:
    world.takes_mail("gmail.com", "aspmx.l.google.com")
    assert resolver_state(client) == "ok"
    world.always = with_code(dns.rcode.NXDOMAIN)
    lied = caller.validate("jane@gmail.com").json()
    assert (lied["verdict"], lied["reason"]) == ("unknown", "dns_failure")
    assert (lied["credits"]["charged"], lied["retry_after_s"]) == (0, 300)
    assert resolver_state(client) == "degraded"
    world.always = None
    assert resolver_state(client) == "ok"
    healed = caller.validate("jane@gmail.com").json()
    assert (healed["verdict"], healed["credits"]["charged"]) == ("deliverable", 1)


@pytest.mark.usefixtures("_fresh_sentinels")
def test_a_resolver_that_invents_records_costs_no_credit_and_is_reported(
    caller: ApiClient, client: Client, world: World
) -> None:
    world.always = inventing(A="8.8.8.8", MX="10 mx.invented.com.")
    lied = caller.validate("jane@nowhere-at-all.com").json()
    assert (lied["verdict"], lied["reason"]) == ("unknown", "dns_failure")
    assert lied["credits"]["charged"] == 0
    assert resolver_state(client) == "degraded"


def test_the_sandbox_asks_nobody(caller: ApiClient, world: World) -> None:
    assert caller.validate("deliverable@sandbox.test").json()["dns_cached"] is None
    assert not world.asked
