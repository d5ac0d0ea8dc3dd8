"""Fixtures: a scripted DNS server that the API's engine asks."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.engine import get_engine
from tests.servers.dns import FakeDns, dns_server


@pytest.fixture
def fake_dns(settings: Settings) -> Iterator[FakeDns]:
    """The DNS that the API's engine asks."""
    scripted = FakeDns()
    with dns_server(scripted) as server:
        settings.DNS_RESOLVERS = [server]
        get_engine.cache_clear()
        yield scripted
    get_engine.cache_clear()


@pytest.fixture
def patient_dns(settings: Settings, fake_dns: FakeDns) -> FakeDns:
    """Return the DNS, asked without repeating a query that a busy machine answers late."""
    settings.DNS_TIMEOUT = 30
    return fake_dns
