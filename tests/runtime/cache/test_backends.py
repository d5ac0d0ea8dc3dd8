"""Shared counters and caches behave the same in SQLite and in Redis."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
import pytest
import time_machine
from allauth.core.internal import ratelimit
from redis import Redis
from redis.exceptions import RedisError

from runtime.cache.redis import FallbackRedisCache, RedisCounters
from runtime.cache.sqlite import SQLiteCache, SQLiteCounters
from tests.servers.redis import free_port, redis, redis_server

pytestmark = pytest.mark.process

PROCESSES, CALLS_PER_PROCESS = 8, 50
# New processes, but only the first of them imports this module.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with redis() as url:
        yield url


def sqlite_cache(file: Path | str) -> SQLiteCache:
    return SQLiteCache(str(file), {"OPTIONS": {"timeout": 10}, "TIMEOUT": 60})


def redis_counters(url: str) -> RedisCounters:
    return RedisCounters(url, {"OPTIONS": {"timeout": 10}, "TIMEOUT": 60})


def create_counters(location: str) -> SQLiteCounters | RedisCounters:
    if location.startswith("redis"):
        return redis_counters(location)
    return SQLiteCounters(location, {"OPTIONS": {"timeout": 10}, "TIMEOUT": 60})


def create_cache(location: str) -> SQLiteCache | FallbackRedisCache:
    if location.startswith("redis"):
        return FallbackRedisCache(location, {"OPTIONS": {"timeout": 10}})
    return sqlite_cache(location)


@pytest.fixture(params=["sqlite", "redis"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "counters.sqlite3")
    url: str = request.getfixturevalue("redis_url")
    with Redis.from_url(url) as server:
        server.flushdb()
    return url


@pytest.fixture
def cache(location: str) -> SQLiteCache | FallbackRedisCache:
    return create_cache(location)


def count_within(location: str, results: Any) -> None:
    """Increment two counters by 3 as long as both stay within their limits, in each process."""
    counters = create_counters(location)
    limits = {"small": 100, "large": 1_000}
    outcomes = [counters.incr_within(limits, 3) for _ in range(CALLS_PER_PROCESS)]
    results.put([counts[0] for fits, counts in outcomes if fits])


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


def record_failed_sign_ins(location: str, results: Any) -> None:
    """Add entries to a list as allauth does: under a lock in the cache."""
    recorded: list[int] = []
    with patch.object(ratelimit, "cache", cache := create_cache(location)):
        while len(recorded) < CALLS_PER_PROCESS:
            with ratelimit.cache_lock("failed") as is_locked:
                if is_locked:
                    history = cache.get("failed", [])
                    assert isinstance(history, list)
                    cache.set("failed", [*history, 1.5], 60)
                    recorded.append(len(history) + 1)
    results.put(recorded)


@pytest.mark.proof
def test_failed_sign_ins_of_eight_processes_are_all_counted(location: str) -> None:
    assert collect_counts(PROCESSES, record_failed_sign_ins, location) == list(
        range(1, PROCESSES * CALLS_PER_PROCESS + 1)
    )


def increment_in_corrupt_file(location: str, barrier: Any, results: Any) -> None:
    barrier.wait()
    counters = sqlite_cache(location)
    results.put([counters.incr("hits") for _ in range(CALLS_PER_PROCESS)])


@pytest.mark.proof
@pytest.mark.parametrize("number", range(3))
def test_processes_that_find_a_corrupt_file_recreate_it_once(tmp_path: Path, number: int) -> None:
    file = tmp_path / "counters.sqlite3"
    file.write_bytes(b"not a database file" * 100)
    barrier = CONTEXT.Barrier(PROCESSES)
    counts = collect_counts(PROCESSES, increment_in_corrupt_file, str(file), barrier)
    assert counts == list(range(1, PROCESSES * CALLS_PER_PROCESS + 1))


def test_redis_that_refuses_writes_is_unhealthy(redis_url: str) -> None:
    counters = redis_counters(redis_url)
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


@pytest.fixture
def _no_known_outage() -> Iterator[None]:
    yield
    FallbackRedisCache.retry_at = 0.0


@pytest.mark.usefixtures("_no_known_outage")
def test_cache_falls_back_to_memory_without_redis() -> None:
    cache = FallbackRedisCache(f"redis://127.0.0.1:{free_port()}/0", {"OPTIONS": {"timeout": 1}})
    assert cache.get("key", "nothing") == "nothing"
    assert cache.add("key", 1)
    assert not cache.add("key", 2)
    cache.set("other", [1.5])
    assert cache.get_many(["key", "other"]) == {"key": 1, "other": [1.5]}
    assert cache.delete("other")
    assert cache.get("other") is None


def test_add_does_not_overwrite_a_live_entry(cache: SQLiteCache | FallbackRedisCache) -> None:
    assert cache.add("key", 1) is True
    assert cache.add("key", 2) is False
    assert cache.get("key") == 1


def test_entry_written_before_the_clock_was_set_back_is_ignored(tmp_path: Path) -> None:
    cache = sqlite_cache(tmp_path / "counters.sqlite3")
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1)):
        for key in ("read", "added", "counted"):
            cache.set(key, 1, timeout=60)
    cache.set("by-a-little", 1, timeout=60)
    with time_machine.travel(datetime.now(UTC) - timedelta(seconds=5)):
        assert cache.get("by-a-little") == 1
    assert cache.get("read") is None
    assert cache.add("added", 2) is True
    assert cache.get("added") == 2
    assert [cache.incr("counted"), cache.incr("counted")] == [1, 2]


@pytest.mark.parametrize("value", [0, 1.5, "text", [1.0, 2.5], {"a": None}, True])
def test_values_are_returned_as_they_were_set(
    cache: SQLiteCache | FallbackRedisCache, value: object
) -> None:
    cache.set("key", value)
    assert cache.get("key") == value


def test_delete_and_clear(cache: SQLiteCache | FallbackRedisCache) -> None:
    cache.set("key", 1, timeout=None)
    assert cache.get("key") == 1
    assert cache.delete("key") is True
    assert cache.delete("key") is False
    cache.set("key", 1)
    cache.clear()
    assert cache.get("key", "default") == "default"


def test_conditional_increments_of_several_processes_never_exceed_a_limit(location: str) -> None:
    assert collect_counts(PROCESSES, count_within, location) == list(range(3, 100, 3))
    counters = create_counters(location)
    assert counters.incr_within({"small": 100, "large": 1_000}, 3) == (False, [99, 99])
    assert counters.incr_within({"small": 100, "large": 1_000}, 1) == (True, [100, 100])


def test_no_counter_is_incremented_if_one_has_no_room(location: str) -> None:
    counters = create_counters(location)
    assert counters.incr_within({"key": 10, "account": 60}, 10) == (True, [10, 10])
    assert counters.incr_within({"key": 10, "account": 60}, 1) == (False, [10, 10])
    assert counters.incr("account") == 11


@contextmanager
def after_a_minute(location: str, *keys: str) -> Iterator[None]:
    """Let the keys expire. Redis has a clock of its own, which is only asked when it would."""
    if location.startswith("redis"):
        with Redis.from_url(location) as server:
            for key in keys:
                assert 0 < server.ttl(create_counters(location).make_key(key)) <= 60
            server.flushdb()
        yield
    else:
        with time_machine.travel(datetime.now(UTC) + timedelta(seconds=61)):
            yield


def test_entries_and_counts_expire(location: str, cache: SQLiteCache | FallbackRedisCache) -> None:
    counters = create_counters(location)
    cache.set("entry", 1, timeout=60)
    assert [counters.incr("hits"), counters.incr("hits", 5), counters.get("hits")] == [1, 6, 6]
    assert counters.incr_within({"limited": 10}, 5) == (True, [5])
    assert cache.get("entry") == 1
    with after_a_minute(location, "entry", "hits", "limited"):
        assert (cache.get("entry"), counters.get("hits")) == (None, None)
        assert cache.add("entry", 2) is True
        assert counters.incr("hits") == 1
        assert counters.incr_within({"limited": 10}, 1) == (True, [1])


def test_redis_that_restarted_counts_the_next_request() -> None:
    port = free_port()
    with redis_server(port) as server:
        counters = redis_counters(server.url)
        assert counters.incr("hits") == 1
    with redis_server(port):
        assert counters.incr("hits") == 1


def test_late_reply_of_redis_is_not_taken_for_the_next_one() -> None:
    with redis_server() as server:
        counters = RedisCounters(server.url, {"OPTIONS": {"timeout": 0.2}, "TIMEOUT": 60})
        assert [counters.incr("others"), counters.incr("others")] == [1, 2]
        process = psutil.Process(server.pid)
        process.suspend()
        try:
            with pytest.raises(RedisError):
                counters.incr("others")
        finally:
            process.resume()
        assert counters.incr("hits") == 1
