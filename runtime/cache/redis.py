"""Redis backends for the cache and counters that several machines share.

Connections are shared per process: Django creates a cache object for every greenlet, each of which
would open its own.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import redis
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.retry import Retry

from runtime.database.coalescing import Coalescer

logger = logging.getLogger(__name__)

Timeout: TypeAlias = float | None
Version: TypeAlias = int | None
# A counter's key, the increment, and the counter's time to live in seconds.
_Increment = tuple[str, int, int]

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


# Increments all counters if none of them exceeds its limit by that. Returns the counts, and 1 or 0.
_COUNT_WITHIN = """
    local increment, ttl = tonumber(ARGV[1]), ARGV[2]
    local counts, fits = {}, 1
    for i, key in ipairs(KEYS) do
        counts[i] = tonumber(redis.call('GET', key) or '0')
        if counts[i] + increment > tonumber(ARGV[i + 2]) then fits = 0 end
    end
    if fits == 1 then
        for i, key in ipairs(KEYS) do
            counts[i] = redis.call('INCRBY', key, increment)
            if counts[i] == increment then redis.call('EXPIRE', key, ttl) end
        end
    end
    counts[#KEYS + 1] = fits
    return counts
"""


class FallbackRedisCache:
    """Django's Redis cache, and a cache in this process's memory while Redis is unavailable.

    Without the fallback, allauth's rate limits would make signing in impossible
    (test_users_can_sign_in_while_the_store_is_unavailable).
    """

    retry_at = 0.0

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        self._redis = _shared_cache(server, _timeout(params), os.getpid())
        self._memory = LocMemCache("without-redis", params)

    def __getattr__(self, name: str) -> Callable[..., object]:
        def method(*args: object, **kwargs: object) -> object:
            if time.monotonic() >= FallbackRedisCache.retry_at:
                try:
                    return getattr(self._redis, name)(*args, **kwargs)
                except (redis.RedisError, OSError) as error:
                    FallbackRedisCache.retry_at = time.monotonic() + _RETRY_SECONDS
                    logger.warning("Redis is unavailable: %s", type(error).__name__)
            return getattr(self._memory, name)(*args, **kwargs)

        return method


class RedisCounters(BaseCache):
    """Counters that concurrent requests increment in one round trip; Django's cache takes three.

    add() does nothing, because incr() creates a counter that doesn't exist.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._client, self._coalescer = _shared_client(server, _timeout(params), os.getpid())

    def add(
        self, key: str, value: object, timeout: Timeout = DEFAULT_TIMEOUT, version: Version = None
    ) -> bool:
        return False

    def get(self, key: str, default: object = None, version: Version = None) -> object:
        count = self._client.get(self.make_and_validate_key(key, version=version))
        return default if count is None else int(count)

    def incr(self, key: str, delta: int = 1, version: Version = None) -> int:
        return self._coalescer.submit(self._increment(key, delta, version))

    def incr_within(self, limits: Mapping[str, int], delta: int) -> tuple[bool, list[int]]:
        """Increment all counters, or none if one would exceed its limit, and return the counts."""
        keys = [self.make_and_validate_key(key) for key in limits]
        ttl = int(self.default_timeout or 0)
        reply = self._client.eval(_COUNT_WITHIN, len(keys), *keys, delta, ttl, *limits.values())
        *counts, fits = reply
        return bool(fits), counts

    def is_healthy(self) -> bool:
        """Increment a counter, as a request does: a Redis that replies to PING may refuse writes.

        This bypasses the coalescer, so requests don't queue behind a Redis that doesn't respond.
        """
        (count,) = _increment_all(self._client, [self._increment("is-healthy")])
        return count > 0

    def _increment(self, key: str, delta: int = 1, version: Version = None) -> _Increment:
        key = self.make_and_validate_key(key, version=version)
        return key, delta, int(self.default_timeout or 0)


@lru_cache(maxsize=8)
def _shared_cache(server: str, timeout: float, process: int) -> RedisCache:
    options = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    return RedisCache(server, {"OPTIONS": options})


@lru_cache(maxsize=8)
def _shared_client(
    server: str, timeout: float, process: int
) -> tuple[redis.Redis, Coalescer[_Increment, int]]:
    client = redis.Redis.from_url(
        server,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        # Reconnect if the server has closed the connection, but don't wait for a second timeout.
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )
    return client, Coalescer(_Incrementer(client).increment_all)


class _Incrementer:
    """Increments counters on one connection, because a coalescer runs one group at a time.

    Before each use, a pool would check whether the server has closed a connection: a quarter of
    the time of a count.
    """

    def __init__(self, pooled: redis.Redis) -> None:
        self._pooled = pooled

    @cached_property
    def _client(self) -> redis.Redis:
        # Connects, so not in __init__.
        client: redis.Redis = self._pooled.client()  # type: ignore[no-untyped-call]
        return client

    def increment_all(self, increments: list[_Increment]) -> list[int]:
        return _increment_all(self._client, increments)


def _timeout(params: dict[str, Any]) -> float:
    timeout: float = params["OPTIONS"]["timeout"]
    return timeout


def _increment_all(client: redis.Redis, increments: list[_Increment]) -> list[int]:
    keys = [key for key, *_ in increments]
    arguments = [argument for _, *pair in increments for argument in pair]
    counts: list[int] = client.eval(_COUNT, len(keys), *keys, *arguments)
    return counts
