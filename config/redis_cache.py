"""Redis, where several machines share counters and cache: one pool of connections a process."""

import os
from functools import lru_cache
from typing import Any

import redis
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache

# The first one sets when the counter expires; one round trip.
_COUNT = """
    local count = redis.call('INCRBY', KEYS[1], ARGV[1])
    if count == tonumber(ARGV[1]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
    return count
"""


class SharedPool(redis.ConnectionPool):
    """Django makes a cache object for every greenlet, and each would open its own connections."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> redis.ConnectionPool:  # type: ignore[override]
        return _pool(url, tuple(options.items()), os.getpid())


@lru_cache(maxsize=8)
def _pool(url: str, options: tuple[tuple[str, Any], ...], process: int) -> redis.ConnectionPool:
    return redis.ConnectionPool.from_url(url, **dict(options))


class RedisCounters(RedisCache):
    """Counts in one round trip where the cache takes three: add() leaves it to incr()."""

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return False

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        name = self.make_and_validate_key(key, version=version)
        client = self._cache.get_client(name, write=True)
        return int(client.eval(_COUNT, 1, name, delta, self.get_backend_timeout() or 0))

    def is_well(self) -> bool:
        """Counts, as a request would: a Redis that answers PING may refuse to write."""
        return self.incr("is-well") > 0
