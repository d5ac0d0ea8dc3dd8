"""Redis, where several machines share counters and cache: one pool of connections a process."""

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

# After a failure nobody asks Redis for so long: each would wait for it in vain.
_PAUSE_SECONDS = 5.0

# Each counter's first one sets when it expires. All of them in one round trip.
_COUNT = """
    local counts = {}
    for place, name in ipairs(KEYS) do
        local more, seconds = ARGV[2 * place - 1], ARGV[2 * place]
        counts[place] = redis.call('INCRBY', name, more)
        if counts[place] == tonumber(more) then redis.call('EXPIRE', name, seconds) end
    end
    return counts
"""
# Which counter, how many more, and for how many seconds it lives.
_Count = tuple[str, int, int]


class SharedPool(redis.ConnectionPool):
    """Django makes a cache object for every greenlet, and each would open its own connections."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> redis.ConnectionPool:  # type: ignore[override]
        return _pool(url, tuple(options.items()), os.getpid())


@lru_cache(maxsize=8)
def _pool(url: str, options: tuple[tuple[str, Any], ...], process: int) -> redis.ConnectionPool:
    return redis.ConnectionPool.from_url(url, **dict(options))


@lru_cache(maxsize=8)
def _together(pool: redis.ConnectionPool) -> Coalescer[_Count, int]:
    return Coalescer(partial(_count_all, redis.Redis(connection_pool=pool)))


def _count_all(client: redis.Redis, counts: list[_Count]) -> list[int]:
    names = [name for name, *_ in counts]
    values = [value for _, *both in counts for value in both]
    counted: Any = client.eval(_COUNT, len(names), *names, *values)
    return list(counted)


class _Away:
    until = 0.0


def _or_alone(name: str) -> Callable[..., Any]:
    """The method of Redis; while that is away, the same of this process's memory."""

    def method(cache: "SturdyRedisCache", *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= _Away.until:
            try:
                return getattr(RedisCache, name)(cache, *args, **kwargs)
            except (redis.RedisError, OSError) as error:
                _Away.until = time.monotonic() + _PAUSE_SECONDS
                logger.warning("Redis does not answer: %s", type(error).__name__)
        return getattr(cache.alone, name)(*args, **kwargs)

    return method


class SturdyRedisCache(RedisCache):
    """What pages remember, such as failed sign-ins: without Redis each worker does so alone."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.alone = LocMemCache("without-redis", params)

    add = _or_alone("add")
    get = _or_alone("get")
    set = _or_alone("set")
    touch = _or_alone("touch")
    delete = _or_alone("delete")
    has_key = _or_alone("has_key")
    incr = _or_alone("incr")
    get_many = _or_alone("get_many")
    set_many = _or_alone("set_many")
    delete_many = _or_alone("delete_many")


class RedisCounters(RedisCache):
    """Counts in one round trip where the cache takes three: add() leaves it to incr()."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        options = {
            name: one for name, one in params.get("OPTIONS", {}).items() if name != "pool_class"
        }
        self._pool = SharedPool.from_url(server, **options)

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return False

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        return _together(self._pool).ask(self._count(key, delta, version))

    def is_well(self) -> bool:
        """Counts, as a request would: a Redis that answers PING may refuse to write. It does so by
        itself: while a silent one is waited for, it is no request's turn."""
        (count,) = _count_all(redis.Redis(connection_pool=self._pool), [self._count("is-well")])
        return count > 0

    def _count(self, key: str, delta: int = 1, version: int | None = None) -> _Count:
        name = self.make_and_validate_key(key, version=version)
        return name, delta, int(self.get_backend_timeout() or 0)
