"""An engine that asks a DNS server on loopback, which says what the test scripts."""

import time
from collections.abc import Iterator

import pytest

from tests.servers.dns import World, dns_server
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

# For all questions of one call; the server answers at once, if at all.
SECONDS = 0.7

EMAIL = "jane@shop.com"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def server(world: World) -> Iterator[str]:
    with dns_server(world) as address:
        yield address


@pytest.fixture
def engine(server: str) -> Engine:
    return Engine(Resolver([server], seconds=SECONDS))


@pytest.fixture
def patient(server: str) -> Engine:
    """Where nothing is silent, or answers are so large that they take a moment to write: a busy
    machine may stand still for longer than others wait."""
    return Engine(Resolver([server], seconds=3 * SECONDS))


def reason_of(engine: Engine, email: str = EMAIL) -> str:
    """Whatever the servers do, the answer comes in time."""
    began = time.monotonic()
    reason = engine.check(email).reason
    assert time.monotonic() - began < SECONDS + 1
    return reason
