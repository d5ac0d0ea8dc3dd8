"""An engine whose resolver is a scripted DNS server on loopback."""

import time
from collections.abc import Iterator

import pytest

from engine.check import Engine
from engine.dns.mail_route import MailRoute
from engine.dns.resolver import Resolver
from tests.servers.dns import FakeDns, dns_server

# The time limit of one check. The server replies immediately, if at all.
SECONDS = 0.7

EMAIL = "jane@shop.com"


@pytest.fixture
def fake_dns() -> FakeDns:
    return FakeDns()


@pytest.fixture
def server(fake_dns: FakeDns) -> Iterator[str]:
    with dns_server(fake_dns) as address:
        yield address


@pytest.fixture
def engine(server: str) -> Engine:
    return Engine(Resolver([server], seconds=SECONDS))


@pytest.fixture
def patient_engine(server: str) -> Engine:
    """Allow ten times the usual time limit, for tests without timeouts or with large replies.

    A busy machine may pause for longer than the usual limit.
    """
    return Engine(Resolver([server], seconds=10 * SECONDS))


def look_up(engine: Engine, domain: str) -> MailRoute:
    ((_, route),) = engine.look_up([domain], at_once=1)
    return route


def get_reason(engine: Engine, email: str = EMAIL) -> str:
    """Return the reason of a check, which must end in time whatever the servers do."""
    started = time.monotonic()
    reason = engine.check(email).reason
    assert time.monotonic() - started < SECONDS + 3
    return reason
