"""Which sockets the engine opens, where they connect, and that it closes them."""

import gc
import os
import resource
import sys
from typing import Any

import psutil

from engine.check import Engine
from engine.dns.policies import Policies
from engine.dns.resolver import Lookup
from engine.dns.transport.exchange import Exchange
from engine.dns.transport.streams import Streams
from tests.engine.conftest import EMAIL
from tests.servers.dns import FakeDns, servfail, truncated

PER_LOOKUP = (Lookup, Policies, Exchange, Streams)


def test_exhausted_file_descriptors_give_no_verdict(engine: Engine, fake_dns: FakeDns) -> None:
    """One more socket can be opened, but none for a TCP stream."""
    fake_dns.default_behavior = truncated
    next_descriptor = os.dup(0)
    os.close(next_descriptor)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_descriptor + 1, hard))
    try:
        reason = engine.check(EMAIL).reason
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert reason == "dns_failure"


# Audit hooks can't be removed. Tests clear the list before they use it.
_connections: list[Any] = []
sys.addaudithook(
    lambda event, arguments: (
        _connections.append(arguments[1]) if event == "socket.connect" else None
    )
)


def test_only_resolvers_are_contacted(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", MX=["1 a.shop.com.", "2 127.0.0.1."], A="127.0.0.1")
    fake_dns.add_records("a.shop.com", A=["8.8.8.8", "127.0.0.1", "169.254.169.254"], AAAA="::1")
    fake_dns.add_records("own.com", A="127.0.0.1")
    fake_dns.set_behavior("shop.com", "TXT", truncated)
    _connections.clear()
    for name in ("shop.com", "own.com"):
        engine.check(f"jane@{name}")
    assert set(_connections) == {server.address for server in engine.resolver.servers}


def test_every_socket_is_closed(engine: Engine, fake_dns: FakeDns) -> None:
    process = psutil.Process()
    fake_dns.set_behavior("silent.com", "MX", servfail)
    before = len(process.net_connections("udp"))
    for name in ("silent.com", "nowhere.com", "a.com"):
        engine.check(f"jane@{name}")
    assert len(process.net_connections("udp")) == before


def test_lookup_leaves_nothing_for_the_garbage_collector(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com", "mx.shop.com")
    fake_dns.set_behavior("shop.com", "TXT", truncated)
    gc.collect()
    gc.disable()
    try:
        engine.check(EMAIL)
        left = [each for each in gc.get_objects() if type(each) in PER_LOOKUP]
    finally:
        gc.enable()
    assert left == []
