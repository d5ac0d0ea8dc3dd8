"""Validation with scripted DNS replies: verdict, charge and log entry."""

from collections.abc import Iterator

import dns.message
import dns.rcode
import dns.rrset
import pytest
from django.test import Client
from pytest_django import Settings

from accounts.engine import get_engine
from config.health import OPTIONAL, REQUIRED
from engine.dns import trust
from tests.servers.dns import Behavior, FakeDns, reply_with_code, servfail, silence
from tests.support.api_client import ApiClient
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def wrong_message_id(query: dns.message.Message) -> bytes:
    """Forge a null MX record with a guessed message id."""
    message = dns.message.make_response(query)
    name = query.question[0].name
    message.answer.append(dns.rrset.from_text(name, 60, "IN", "MX", "0 ."))
    message.id ^= 0xFF
    return message.to_wire()


def test_deliverable_address_costs_a_credit(caller: ApiClient, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com", "aspmx.l.google.com")
    first, second = (caller.validate("Jane+news@shop.com").json() for _ in range(2))
    assert (first["verdict"], first["reason"]) == ("deliverable", "domain_accepts_mail")
    assert (first["mx"]["provider"], first["canonical"]) == ("google", "jane@shop.com")
    assert [result["dns_cached"] for result in (first, second)] == [False, True]
    assert [result["credits"]["charged"] for result in (first, second)] == [1, 1]
    assert LogEntry.objects.filter(verdict="deliverable", domain="shop.com").count() == 2


def test_unknown_is_free_and_checked_again(caller: ApiClient, fake_dns: FakeDns) -> None:
    fake_dns.set_behavior("shop.com", "MX", servfail)
    unknown = caller.validate("jane@shop.com", idempotency_key="one").json()
    assert (unknown["reason"], unknown["retry_after_s"]) == ("dns_failure", 300)
    assert unknown["credits"]["charged"] == 0
    fake_dns.behaviors.clear()
    fake_dns.add_mail_domain("shop.com")
    get_engine.cache_clear()
    again = caller.validate("jane@shop.com", idempotency_key="one").json()
    assert (again["verdict"], again["credits"]["charged"]) == ("deliverable", 1)


@pytest.mark.parametrize("behavior", [silence, servfail, wrong_message_id])
def test_failing_resolver_costs_no_credits_and_cached_domains_keep_their_verdict(
    caller: ApiClient, fake_dns: FakeDns, settings: Settings, behavior: Behavior
) -> None:
    settings.DNS_TIMEOUT = 1.0
    get_engine.cache_clear()
    fake_dns.add_mail_domain("shop.com")
    assert caller.validate("jane@shop.com").json()["verdict"] == "deliverable"
    fake_dns.default_behavior = behavior
    known, unknown = (caller.validate(f"jane@{name}.com").json() for name in ("shop", "other"))
    assert (known["verdict"], known["credits"]["charged"]) == ("deliverable", 1)
    assert (unknown["verdict"], unknown["credits"]["charged"]) == ("unknown", 0)
    fake_dns.default_behavior = None
    fake_dns.add_mail_domain("third.com")
    assert caller.validate("jane@third.com").json()["verdict"] == "deliverable"


def resolver_state(client: Client) -> str:
    """Return what /readyz reports after its cached checks have expired."""
    for check in (*REQUIRED.values(), *OPTIONAL.values()):
        check.is_healthy()
        check.reset()
    response = client.get("/readyz")
    assert response.status_code == 200
    state: str = response.json()["resolver"]
    return state


@pytest.fixture
def _probe_every_lookup(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Send probes with every lookup instead of every ten seconds."""
    monkeypatch.setattr(trust, "PROBE_INTERVAL", 0)
    yield
    for check in (*REQUIRED.values(), *OPTIONAL.values()):
        check.is_healthy()
        check.reset()


@pytest.mark.usefixtures("_probe_every_lookup")
def test_dishonest_resolver_costs_no_credit_and_is_reported_until_it_stops(
    caller: ApiClient, client: Client, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("gmail.com", "aspmx.l.google.com")
    assert resolver_state(client) == "ok"
    fake_dns.default_behavior = reply_with_code(dns.rcode.NXDOMAIN)
    forged = caller.validate("jane.doe@gmail.com").json()
    assert (forged["verdict"], forged["reason"]) == ("unknown", "dns_failure")
    assert (forged["credits"]["charged"], forged["retry_after_s"]) == (0, 300)
    assert resolver_state(client) == "degraded"
    fake_dns.default_behavior = None
    assert resolver_state(client) == "ok"
    genuine = caller.validate("jane.doe@gmail.com").json()
    assert (genuine["verdict"], genuine["credits"]["charged"]) == ("deliverable", 1)


def test_sandbox_sends_no_dns_queries(caller: ApiClient, fake_dns: FakeDns) -> None:
    assert caller.validate("deliverable@sandbox.test").json()["dns_cached"] is None
    assert not fake_dns.queries
