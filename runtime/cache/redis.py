"""Redis backends for the cache and counters that several machines share.

Each process has one connection pool per server.
"""

import logging
import os
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import redis
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

from runtime.database.coalescing import Coalescer

logger = logging.getLogger(__name__)

# How long Redis is skipped after a failure. Otherwise each request would wait for its timeout.
_RETRY_SECONDS = 5.0

# Increments all counters in one round trip. The first increment of a counter sets its expiry.
_COUNT = """
    local counts = {}
    for i, key in ipairs(KEYS) do
        local increment, ttl = ARGV[2 * i - 1], ARGV[2 * i]
        counts[i] = redis.call('INCRBY', key, increment)
        if counts[i] == tonumber(increment) then redis.call('EXPIRE', key, ttl) end
    end
    return counts
"""
# A counter's key, the increment, and the counter's time to live in seconds.
_Increment = tuple[str, int, int]


class SharedPool(redis.ConnectionPool):
    """Share one pool per process.

    Django creates a cache object for every greenlet, each of which would open its own connections.
    """

    @classmethod
    def from_url(cls, url: str, **options: Any) -> redis.ConnectionPool:  # type: ignore[override]
        return _pool(url, tuple(options.items()), os.getpid())


@lru_cache(maxsize=8)
def _pool(url: str, options: tuple[tuple[str, Any], ...], process: int) -> redis.ConnectionPool:
    return redis.ConnectionPool.from_url(url, **dict(options))


@lru_cache(maxsize=8)
def _coalescer(pool: redis.ConnectionPool) -> Coalescer[_Increment, int]:
    return Coalescer(partial(_increment_all, redis.Redis(connection_pool=pool)))


def _increment_all(client: redis.Redis, increments: list[_Increment]) -> list[int]:
    keys = [key for key, *_ in increments]
    arguments = [argument for _, *pair in increments for argument in pair]
    counts: Any = client.eval(_COUNT, len(keys), *keys, *arguments)
    return list(counts)


class _Outage:
    until = 0.0


def _with_fallback(name: str) -> Callable[..., Any]:
    """Return a method that uses Redis and, during an outage, this process's memory."""

    def method(cache: "FallbackRedisCache", *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= _Outage.until:
            try:
                return getattr(RedisCache, name)(cache, *args, **kwargs)
            except (redis.RedisError, OSError) as error:
                _Outage.until = time.monotonic() + _RETRY_SECONDS
                logger.warning("Redis is unavailable: %s", type(error).__name__)
        return getattr(cache.fallback, name)(*args, **kwargs)

    return method


class FallbackRedisCache(RedisCache):
    """The pages' cache, which holds the counts of failed sign-ins, for example.

    While Redis is unavailable, each process uses a separate cache in memory.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.fallback = LocMemCache("without-redis", params)

    add = _with_fallback("add")
    get = _with_fallback("get")
    set = _with_fallback("set")
    touch = _with_fallback("touch")
    delete = _with_fallback("delete")
    has_key = _with_fallback("has_key")
    incr = _with_fallback("incr")
    get_many = _with_fallback("get_many")
    set_many = _with_fallback("set_many")
    delete_many = _with_fallback("delete_many")


class RedisCounters(RedisCache):
    """Count in one round trip instead of the cache's three.

    add() does nothing, because incr() creates a counter that doesn't exist.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        options = {
            name: value for name, value in params.get("OPTIONS", {}).items() if name != "pool_class"
        }
        self._pool = SharedPool.from_url(server, **options)

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return False

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        return _coalescer(self._pool).submit(self._increment(key, delta, version))

    def is_healthy(self) -> bool:
        """Increment a counter, as a request does: a Redis that replies to PING may refuse writes.

        This bypasses the coalescer, so requests don't queue behind a Redis that doesn't respond.
        """
        client = redis.Redis(connection_pool=self._pool)
        (count,) = _increment_all(client, [self._increment("is-well")])
        return count > 0

    def _increment(self, key: str, delta: int = 1, version: int | None = None) -> _Increment:
        name = self.make_and_validate_key(key, version=version)
        return name, delta, int(self.get_backend_timeout() or 0)
