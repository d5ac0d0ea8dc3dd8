"""Shared counters and caches behave the same in SQLite and in Redis."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.cache import BaseCache
from django.core.cache.backends.redis import RedisCache
from redis import Redis
from redis.exceptions import RedisError

from runtime.cache.redis import FallbackRedisCache, RedisCounters
from runtime.cache.sqlite import SQLiteCache, SQLiteCounters
from tests.servers.redis import free_port, redis

pytestmark = pytest.mark.process

PROCESSES, CALLS_PER_PROCESS = 8, 50
CONTEXT = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with redis() as url:
        yield url


def create_cache(kind: str, location: str) -> BaseCache:
    return SQLiteCache(location, {}) if kind == "sqlite" else RedisCache(location, {})


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    if request.param == "sqlite":
        return "sqlite", str(tmp_path / "counters.sqlite3")
    return "redis", request.getfixturevalue("redis_url")


@pytest.fixture
def cache(store: tuple[str, str]) -> Iterator[BaseCache]:
    built = create_cache(*store)
    built.clear()
    yield built
    built.close()


def count(kind: str, location: str, results: Any) -> None:
    """Increment the counter repeatedly, after creating it if needed. Each process runs this."""
    cache = create_cache(kind, location)
    results.put([_increment(cache) for _ in range(CALLS_PER_PROCESS)])


def collect_counts(processes: int, target: Callable[..., None], *arguments: Any) -> list[int]:
    """Run `target` in several processes, and return all counts in order."""
    results = CONTEXT.Queue()
    workers = [CONTEXT.Process(target=target, args=(*arguments, results)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    counts = [number for _ in workers for number in results.get(timeout=60)]
    for worker in workers:
        worker.join()
    return sorted(counts)


def _increment(cache: BaseCache) -> int:
    cache.add("hits", 0, timeout=60)
    return cache.incr("hits")


@pytest.mark.proof
def test_concurrent_increments_of_eight_processes_are_all_counted(
    store: tuple[str, str], cache: BaseCache
) -> None:
    assert collect_counts(PROCESSES, count, *store) == list(
        range(1, PROCESSES * CALLS_PER_PROCESS + 1)
    )


def test_corrupt_file_is_recreated(tmp_path: Path) -> None:
    file = tmp_path / "counters.sqlite3"
    file.write_bytes(b"not a database file" * 100)
    cache = SQLiteCache(str(file), {})
    cache.set("key", 1)
    assert cache.get("key") == 1


def increment_in_corrupt_file(location: str, barrier: Any, results: Any) -> None:
    barrier.wait()
    counters = SQLiteCounters(location, {"TIMEOUT": 60})
    results.put([counters.incr("hits") for _ in range(CALLS_PER_PROCESS)])


@pytest.mark.proof
@pytest.mark.parametrize("number", range(3))
def test_eight_processes_that_find_a_corrupt_file_recreate_it_once(
    tmp_path: Path, number: int
) -> None:
    file = tmp_path / "counters.sqlite3"
    file.write_bytes(b"not a database file" * 100)
    barrier = CONTEXT.Barrier(PROCESSES)
    counts = collect_counts(PROCESSES, increment_in_corrupt_file, str(file), barrier)
    assert counts == list(range(1, PROCESSES * CALLS_PER_PROCESS + 1))


def count_once(location: str, results: Any) -> None:
    results.put([SQLiteCounters(location, {"TIMEOUT": 60}).incr("hits")])


@pytest.mark.proof
def test_all_processes_use_the_new_file_after_the_old_one_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "counters.sqlite3"
    counters = SQLiteCounters(str(file), {"TIMEOUT": 60})
    assert counters.incr("hits") == 1
    for part in tmp_path.iterdir():
        part.unlink()
    assert collect_counts(1, count_once, str(file)) == [1]
    time.sleep(1.1)
    assert counters.incr("hits") == 2


def test_redis_that_refuses_writes_is_unhealthy(redis_url: str) -> None:
    counters = RedisCounters(redis_url, {"TIMEOUT": 60})
    assert counters.is_healthy()
    server = Redis.from_url(redis_url)
    server.config_set("min-replicas-to-write", 1)
    try:
        assert server.ping()
        with pytest.raises(RedisError):
            counters.is_healthy()
    finally:
        server.config_set("min-replicas-to-write", 0)
        server.close()
        counters.close()


def test_cache_falls_back_to_memory_without_redis() -> None:
    cache = FallbackRedisCache(f"redis://127.0.0.1:{free_port()}/0", {})
    assert cache.get("key", "nothing") == "nothing"
    assert cache.add("key", 1)
    assert not cache.add("key", 2)
    assert cache.incr("key") == 2
    cache.set("other", [1.5])
    assert cache.get_many(["key", "other"]) == {"key": 2, "other": [1.5]}
    assert cache.delete("other")
    with pytest.raises(ValueError, match="not found"):
        cache.incr("other")


def test_add_does_not_overwrite_a_live_entry(cache: BaseCache) -> None:
    assert cache.add("key", 1) is True
    assert cache.add("key", 2) is False
    assert cache.get("key") == 1


def test_expired_entry_is_gone_and_can_be_added_again(cache: BaseCache) -> None:
    cache.set("key", 1, timeout=1)
    assert cache.get("key") == 1
    time.sleep(1.1)
    assert cache.get("key") is None
    assert cache.add("key", 2) is True


def test_entry_written_before_the_clock_was_set_back_is_ignored(tmp_path: Path) -> None:
    cache = SQLiteCache(str(tmp_path / "counters.sqlite3"), {})
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1)):
        for key in ("read", "added", "counted", "touched"):
            cache.set(key, 1, timeout=60)
    cache.set("by-a-little", 1, timeout=60)
    with time_machine.travel(datetime.now(UTC) - timedelta(seconds=5)):
        assert cache.get("by-a-little") == 1
    assert cache.get("read") is None
    assert cache.add("added", 2) is True
    assert cache.get("added") == 2
    assert cache.touch("touched", 60) is False
    with pytest.raises(ValueError, match="not found"):
        cache.incr("counted")


def test_incrementing_a_missing_key_is_an_error(cache: BaseCache) -> None:
    with pytest.raises(ValueError, match="not found"):
        cache.incr("missing")


@pytest.mark.parametrize("value", [0, 1.5, "text", [1.0, 2.5], {"a": None}, True])
def test_values_are_returned_as_they_were_set(cache: BaseCache, value: object) -> None:
    cache.set("key", value)
    assert cache.get("key") == value


def test_touch_delete_and_clear(cache: BaseCache) -> None:
    cache.set("key", 1, timeout=1)
    assert cache.touch("key", 60) is True
    assert cache.touch("missing", 60) is False
    time.sleep(1.1)
    assert cache.get("key") == 1
    assert cache.delete("key") is True
    assert cache.delete("key") is False
    cache.set("key", 1)
    cache.clear()
    assert cache.get("key", "default") == "default"
