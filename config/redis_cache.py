"""Redis, where several machines share counters and cache: one pool of connections a process."""

import os
from functools import lru_cache
from typing import Any

import redis
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

# What a page waits for it, unless OPTIONS say otherwise.
_WAIT = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
# The first one sets when the counter expires; one round trip.
_COUNT = """
    local count = redis.call('INCRBY', KEYS[1], ARGV[1])
    if count == tonumber(ARGV[1]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
    return count
"""


@lru_cache(maxsize=8)
def _pool(url: str, options: tuple[tuple[str, Any], ...], process: int) -> redis.ConnectionPool:
    # Django makes a cache object for every greenlet, and each would open connections of its own.
    return redis.ConnectionPool.from_url(url, **dict(options))


class SharedPoolClient(RedisCacheClient):
    def _get_connection_pool(self, write: bool) -> redis.ConnectionPool:
        options = {**_WAIT, **self._pool_options}  # type: ignore[attr-defined]
        return _pool(self._servers[0], tuple(options.items()), os.getpid())  # type: ignore[attr-defined]


class SharedRedisCache(RedisCache):
    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = SharedPoolClient


class RedisCounters(SharedRedisCache):
    """Counts in one round trip where the cache takes three: add() leaves it to incr()."""

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return False

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        name = self.make_and_validate_key(key, version=version)
        client = self._cache.get_client(name, write=True)
        return int(client.eval(_COUNT, 1, name, delta, int(self.default_timeout or 0)))

    def is_well(self) -> bool:
        return bool(self._cache.get_client(None, write=True).ping())
