"""Which sockets the engine opens, where to, and that it closes them."""

import os
import resource
import sys
from typing import Any

import psutil
import pytest

from tests.servers.dns import World, servfail, truncated
from tests.validation.engine.conftest import EMAIL
from validation.engine.check import Engine

pytestmark = pytest.mark.anywhere


def test_a_process_without_descriptors_left_gives_no_verdict(engine: Engine, world: World) -> None:
    """One socket can still be made, and none for a stream."""
    world.always = truncated
    next_one = os.dup(0)
    os.close(next_one)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_one + 1, hard))
    try:
        reason = engine.check(EMAIL).reason
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert reason == "dns_failure"


# An audit hook stays for ever; what it hears matters only while a test collects it.
_connections: list[Any] = []
sys.addaudithook(
    lambda event, arguments: (
        _connections.append(arguments[1]) if event == "socket.connect" else None
    )
)


def test_nobody_but_the_resolvers_is_connected_to(engine: Engine, world: World) -> None:
    world.has("shop.com", MX=["1 a.shop.com.", "2 127.0.0.1."], A="127.0.0.1")
    world.has("a.shop.com", A=["8.8.8.8", "127.0.0.1", "169.254.169.254"], AAAA="::1")
    world.has("own.com", A="127.0.0.1")
    world.behaves("shop.com", "TXT", truncated)
    _connections.clear()
    for name in ("shop.com", "own.com"):
        engine.check(f"jane@{name}")
    assert set(_connections) == {server.address for server in engine.resolver.servers}


def test_every_socket_is_closed(engine: Engine, world: World) -> None:
    process = psutil.Process()
    world.behaves("silent.com", "MX", servfail)
    before = len(process.net_connections("udp"))
    for name in ("silent.com", "nowhere.com", "a.com"):
        engine.check(f"jane@{name}")
    assert len(process.net_connections("udp")) == before
