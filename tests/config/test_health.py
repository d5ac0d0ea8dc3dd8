"""What load balancers ask: /healthz and /readyz, without a key, a session or a known host."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.engine import engine
from apikeys.throttling import limits
from config import health
from config.health import NEEDED, USEFUL
from runtime.health_check_cache import HealthCheckCache
from tests.servers.dns import World, dns_server, packets

pytestmark = pytest.mark.django_db

PATHS = ["/healthz", "/readyz"]
NAMES = ["status", "database", "migrations", "counters", "resolver"]


@pytest.fixture(autouse=True)
def _nothing_is_known() -> Iterator[None]:
    kept = [*NEEDED.values(), *USEFUL.values()]
    for one in kept:
        one.forget()
    engine.cache_clear()
    yield
    engine.cache_clear()
    for one in kept:
        # Whoever still looks would do so in the next test's database.
        one.found()
        one.forget()


@pytest.fixture
def world(settings: Settings) -> Iterator[World]:
    scripted = World()
    with dns_server(scripted) as server:
        settings.DNS_RESOLVERS = [server]
        yield scripted


@pytest.fixture
def balancer() -> Client:
    """It asks by address, over plain HTTP."""
    return Client(headers={"host": "10.0.0.7:8000"})


def states(balancer: Client, status: int = 200) -> dict[str, str]:
    answer = balancer.get("/readyz")
    assert answer.status_code == status, answer.content
    document: dict[str, str] = answer.json()
    assert list(document) == NAMES
    return document


def test_with_everything_there_it_is_ready(balancer: Client, world: World) -> None:
    assert states(balancer) == dict.fromkeys(NAMES, "ok")


def test_the_process_is_well_without_asking_anybody(balancer: Client, world: World) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert balancer.get("/healthz").json() == {"status": "ok"}
    assert not queries.captured_queries
    assert not world.asked


@pytest.mark.parametrize("path", PATHS)
def test_strangers_read_no_more_than_what_is_well(
    balancer: Client, world: World, path: str, settings: Settings
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    answer = balancer.get(path)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "application/json"
    assert not answer.cookies
    assert set(answer.json().values()) == {"ok"}
    assert not {"Server", "X-RateLimit-Limit", "Location"} & set(answer.headers)


@pytest.mark.parametrize("path", PATHS)
def test_only_get_and_head_are_answered(balancer: Client, world: World, path: str) -> None:
    head = balancer.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        refused = balancer.generic(method, path)
        assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")
        assert not refused.cookies


def test_asking_again_and_again_asks_nobody_else(
    balancer: Client, world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 1
    looked = [0]
    database = type(connections["default"])
    answers: Callable[..., bool] = database.answers  # type: ignore[attr-defined]

    def count_and_answer(self: object) -> bool:
        looked[0] += 1
        return answers(self)

    monkeypatch.setattr(database, "answers", count_and_answer)
    started = time.monotonic()
    for _ in range(200):
        states(balancer)
    assert looked[0] <= 1 + (time.monotonic() - started)
    assert world.messages <= 13 * (1 + (time.monotonic() - started) / 10)


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The MIGRATION_MODULES of a newer version, one of which nobody has applied."""
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "__init__.py").touch()
    (tmp_path / "newer" / "0001_initial.py").write_text(
        "from django.db import migrations\nclass Migration(migrations.Migration):\n    initial = 1"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return {"messages": "newer"}


def test_migrations_that_are_not_applied_are_told_until_they_are(
    balancer: Client,
    world: World,
    newer: dict[str, str],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NEEDED["migrations"], "_bad_seconds", 0)
    settings.MIGRATION_MODULES = newer
    answer = balancer.get("/readyz")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert answer.json() == {
        **dict.fromkeys(NAMES, "ok"),
        "status": "unavailable",
        "migrations": "unavailable",
    }
    settings.MIGRATION_MODULES = {}
    assert states(balancer)["migrations"] == "ok"


def test_a_worker_that_knows_its_migrations_asks_for_them_no_more(
    balancer: Client, world: World, newer: dict[str, str], settings: Settings
) -> None:
    states(balancer)
    settings.MIGRATION_MODULES = newer
    NEEDED["database"].forget()
    assert states(balancer)["migrations"] == "ok"


def test_counters_that_are_away_are_no_reason_to_send_nobody(
    balancer: Client, world: World, settings: Settings
) -> None:
    # No folder for the file: as when Redis is not there.
    broken = {"BACKEND": "runtime.cache.sqlite.SQLiteCounters", "LOCATION": "/dev/null/counters"}
    settings.CACHES = {**settings.CACHES, "counters": broken}
    try:
        assert states(balancer) == {
            **dict.fromkeys(NAMES, "ok"),
            "status": "degraded",
            "counters": "degraded",
        }
    finally:
        limits._breaker.is_open = False


def test_a_silent_resolver_is_told_and_holds_nobody_up(
    balancer: Client, settings: Settings
) -> None:
    with packets(lambda wire: []) as silent:
        settings.DNS_RESOLVERS = [silent]
        started = time.monotonic()
        assert states(balancer)["resolver"] == "degraded"
        assert time.monotonic() - started < 2
        started = time.monotonic()
        assert states(balancer)["status"] == "degraded"
        assert time.monotonic() - started < health.RESOLVER_SECONDS


def test_a_resolver_that_only_fails_is_told(balancer: Client, settings: Settings) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings.DNS_RESOLVERS = [f"127.0.0.1:{port}"]
    assert states(balancer)["resolver"] == "degraded"


def test_what_hangs_is_not_well_and_is_waited_for_once() -> None:
    may_end, looks = threading.Event(), []

    def hang() -> bool:
        looks.append(1)
        return may_end.wait(10)

    kept = HealthCheckCache(hang, patience=0.2, good_seconds=0, bad_seconds=0)
    kept.look()
    assert kept.found() is False
    started = time.monotonic()
    for _ in range(50):
        kept.look()
        assert kept.found() is False
    assert time.monotonic() - started < 1
    may_end.set()
    kept._done.wait(10)
    assert kept.found() is True
    assert len(looks) == 1
