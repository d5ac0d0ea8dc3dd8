"""An engine that asks a DNS server on loopback, which says what the test scripts."""

from collections.abc import Iterator

import pytest

from tests.servers.dns import World, dns_server
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

# For all questions of one call; the server answers at once, if at all.
SECONDS = 0.7


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
