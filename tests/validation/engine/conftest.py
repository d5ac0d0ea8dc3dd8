"""An engine whose resolver is a scripted DNS server on loopback."""

import time
from collections.abc import Iterator

import pytest

from tests.servers.dns import FakeDns, dns_server
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

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
    """Allow three times the usual time limit, for tests without timeouts or with large replies.

    A busy machine may pause for longer than the usual limit.
    """
    return Engine(Resolver([server], seconds=3 * SECONDS))


def get_reason(engine: Engine, email: str = EMAIL) -> str:
    """Return the reason of a check, which must end in time whatever the servers do."""
    started = time.monotonic()
    reason = engine.check(email).reason
    assert time.monotonic() - started < SECONDS + 1
    return reason
