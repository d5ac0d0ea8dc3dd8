"""/healthz and /readyz, without a key, a session or a known host."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as loaded_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.engine import get_engine
from apikeys.throttling import limits
from config import health
from config.health import OPTIONAL, REQUIRED
from engine import DOMAIN_DATA
from runtime.health_check_cache import HealthCheckCache
from tests.servers.dns import FakeDns, packet_server
from tests.support.engine_dns import fake_dns

__all__ = ["fake_dns"]

pytestmark = pytest.mark.django_db

PATHS = ["/healthz", "/readyz"]
NAMES = ["status", "database", "migrations", "counters", "resolver"]


@pytest.fixture(autouse=True)
def _no_cached_results() -> Iterator[None]:
    checks = [*REQUIRED.values(), *OPTIONAL.values()]
    for check in checks:
        check.reset()
    get_engine.cache_clear()
    yield
    get_engine.cache_clear()
    for check in checks:
        # Wait for running checks, which would otherwise query the next test's database.
        check.is_healthy()
        check.reset()


@pytest.fixture
def balancer() -> Client:
    """A client that sends an address as host, over plain HTTP."""
    return Client(headers={"host": "10.0.0.7:8000"})


def states(balancer: Client, status: int = 200) -> dict[str, str]:
    response = balancer.get("/readyz")
    assert response.status_code == status, response.content
    document: dict[str, str] = response.json()
    assert document.pop("version") == loaded_settings.VERSION
    assert document.pop("commit") == (loaded_settings.COMMIT or None)
    assert document.pop("domain_data") == DOMAIN_DATA.version
    assert list(document) == NAMES
    return document


def test_product_is_ready_when_all_checks_pass(balancer: Client, fake_dns: FakeDns) -> None:
    assert states(balancer) == dict.fromkeys(NAMES, "ok")


def test_healthz_takes_no_queries(balancer: Client, fake_dns: FakeDns) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert balancer.get("/healthz").json() == {"status": "ok"}
    assert not queries.captured_queries
    assert not fake_dns.queries


@pytest.mark.parametrize("path", PATHS)
def test_health_response_contains_only_states_and_versions(
    balancer: Client, fake_dns: FakeDns, path: str, settings: Settings
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.COMMIT = "4d6173b2"
    response = balancer.get(path)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Content-Type"] == "application/json"
    assert not response.cookies
    versions = {settings.VERSION, "4d6173b2", DOMAIN_DATA.version} if path == "/readyz" else set()
    assert set(response.json().values()) == {"ok", *versions}
    assert not {"Server", "X-RateLimit-Limit", "Location"} & set(response.headers)


@pytest.mark.parametrize("path", PATHS)
def test_only_get_and_head_are_allowed(balancer: Client, fake_dns: FakeDns, path: str) -> None:
    head = balancer.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        refused = balancer.generic(method, path)
        assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")
        assert not refused.cookies


def test_repeated_health_checks_use_cached_results(
    balancer: Client, fake_dns: FakeDns, settings: Settings
) -> None:
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 1
    started = time.monotonic()
    for _ in range(200):
        states(balancer)
    assert fake_dns.messages <= 13 * (1 + (time.monotonic() - started) / 10)


@pytest.fixture
def newer_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """MIGRATION_MODULES with a migration that hasn't been applied."""
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "__init__.py").touch()
    (tmp_path / "newer" / "0001_initial.py").write_text(
        "from django.db import migrations\nclass Migration(migrations.Migration):\n    initial = 1"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return {"messages": "newer"}


def test_unapplied_migrations_are_reported_until_they_are_applied(
    balancer: Client,
    fake_dns: FakeDns,
    newer_migrations: dict[str, str],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(REQUIRED["migrations"], "_unhealthy_ttl", 0)
    settings.MIGRATION_MODULES = newer_migrations
    response = balancer.get("/readyz")
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) >= 1
    assert response.json() == {
        **dict.fromkeys(NAMES, "ok"),
        "status": "unavailable",
        "migrations": "unavailable",
        "version": settings.VERSION,
        "commit": settings.COMMIT or None,
        "domain_data": DOMAIN_DATA.version,
    }
    settings.MIGRATION_MODULES = {}
    assert states(balancer)["migrations"] == "ok"


def test_applied_migrations_are_not_checked_again(
    balancer: Client, fake_dns: FakeDns, newer_migrations: dict[str, str], settings: Settings
) -> None:
    states(balancer)
    settings.MIGRATION_MODULES = newer_migrations
    REQUIRED["database"].reset()
    assert states(balancer)["migrations"] == "ok"


def test_unavailable_counters_only_degrade_the_product(
    balancer: Client, fake_dns: FakeDns, settings: Settings
) -> None:
    # The file's folder doesn't exist, which fails like an unreachable Redis.
    broken = {**settings.CACHES["counters"], "LOCATION": "/dev/null/counters"}
    settings.CACHES = {**settings.CACHES, "counters": broken}
    try:
        assert states(balancer) == {
            **dict.fromkeys(NAMES, "ok"),
            "status": "degraded",
            "counters": "degraded",
        }
    finally:
        limits._breaker.is_open = False


def test_silent_resolver_is_reported_without_delay(balancer: Client, settings: Settings) -> None:
    with packet_server(lambda wire: []) as silent:
        settings.DNS_RESOLVERS = [silent]
        assert states(balancer)["resolver"] == "degraded"
        durations = []
        for _ in range(5):
            started = time.monotonic()
            assert states(balancer)["status"] == "degraded"
            durations.append(time.monotonic() - started)
        # A busy machine delays some of them.
        assert min(durations) < health.RESOLVER_TIMEOUT


def test_hanging_check_is_unhealthy_and_waited_for_once() -> None:
    may_end, runs = threading.Event(), []

    def hang() -> bool:
        runs.append(1)
        return may_end.wait(10)

    check = HealthCheckCache(hang, timeout=0.2, healthy_ttl=0, unhealthy_ttl=0)
    check.refresh()
    assert check.is_healthy() is False
    started = time.monotonic()
    for _ in range(50):
        check.refresh()
        assert check.is_healthy() is False
    # If each had waited, 10 s.
    assert time.monotonic() - started < 5
    may_end.set()
    check._done.wait(10)
    assert check.is_healthy() is True
    assert len(runs) == 1
