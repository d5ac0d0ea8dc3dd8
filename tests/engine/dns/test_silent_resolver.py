"""While no resolver replies, lookups end early, and the first reply restores their time."""

import time
from collections.abc import Iterator

import pytest

from engine.check import Engine
from engine.dns.resolver import Resolver
from engine.dns.trust import PROBE_INTERVAL
from tests.engine.conftest import SECONDS
from tests.engine.dns.conftest import Clock
from tests.servers.dns import FakeDns, dns_server, silence

SHORT = 0.6 * SECONDS


@pytest.fixture
def other_dns() -> FakeDns:
    return FakeDns()


@pytest.fixture
def engine(server: str, other_dns: FakeDns, clock: Clock) -> Iterator[Engine]:
    with dns_server(other_dns) as other:
        yield Engine(Resolver([server, other], seconds=SECONDS, clock=clock))


def measure(engine: Engine, domain: str) -> tuple[str, float]:
    started = time.monotonic()
    return engine.check(f"jane@{domain}").reason, time.monotonic() - started


def silence_all(engine: Engine, clock: Clock, *servers: FakeDns) -> None:
    """Silence servers that the engine has just heard, until it ends lookups early."""
    for server in servers:
        server.add_mail_domain("shop.com")
    assert measure(engine, "shop.com")[0] == "domain_accepts_mail"
    for server in servers:
        server.default_behavior = silence
    clock.ahead += PROBE_INTERVAL
    for number in range(4):
        reason, seconds = measure(engine, f"frozen-{number}.com")
        assert reason == "dns_timeout"
        assert seconds > 0.9 * SECONDS


def test_lookup_ends_early_while_all_are_silent_until_the_first_reply(
    engine: Engine, fake_dns: FakeDns, other_dns: FakeDns, clock: Clock
) -> None:
    silence_all(engine, clock, fake_dns, other_dns)
    before = fake_dns.messages + other_dns.messages
    reason, seconds = measure(engine, "shop.de")
    assert (reason, seconds < SHORT) == ("dns_timeout", True)
    assert engine.check("jane@shop.de").document()["retry_after_s"] == 60
    # MX, SPF and DMARC at both servers.
    assert fake_dns.messages + other_dns.messages - before <= 6
    other_dns.default_behavior = None
    other_dns.add_mail_domain("shop.nl")
    assert measure(engine, "shop.nl")[0] == "domain_accepts_mail"
    other_dns.set_behavior("slow.com", "MX", silence)
    assert measure(engine, "slow.com")[1] > 0.9 * SECONDS


def test_one_lookup_a_minute_waits_for_a_resolver_that_returns_slowly(
    engine: Engine, fake_dns: FakeDns, other_dns: FakeDns, clock: Clock
) -> None:
    silence_all(engine, clock, fake_dns, other_dns)
    fake_dns.default_behavior = other_dns.default_behavior = None
    fake_dns.delay = other_dns.delay = 0.4 * SECONDS
    assert measure(engine, "nowhere.com")[0] == "dns_timeout"
    clock.ahead += 60
    measure(engine, "nowhere.net")
    assert measure(engine, "nowhere.org")[0] == "domain_not_found"


def test_domains_with_dead_name_servers_shorten_no_lookup(
    engine: Engine, fake_dns: FakeDns, other_dns: FakeDns, clock: Clock
) -> None:
    """The resolvers still reply to the probe, though to nothing else."""
    for server in (fake_dns, other_dns):
        server.zone_behaviors["dead.com"] = server.zone_behaviors["_dmarc.dead.com"] = silence
    for number in range(6):
        clock.ahead += PROBE_INTERVAL
        reason, seconds = measure(engine, f"{number}.dead.com")
        assert reason == "dns_timeout"
        assert seconds > 0.9 * SECONDS
