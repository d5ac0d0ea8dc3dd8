"""Django creates a cache object per greenlet, so they share connections."""

import logging
import time
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
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
# Key, increment, seconds to live.
_Increment = tuple[str, int, int]

_RETRY_SECONDS = 5.0

_COUNT = """
    local counts = {}
    for i, key in ipairs(KEYS) do
        local increment, ttl = ARGV[2 * i - 1], ARGV[2 * i]
        counts[i] = redis.call('INCRBY', key, increment)
        if counts[i] == tonumber(increment) then redis.call('EXPIRE', key, ttl) end
    end
    return counts
"""
# All or none. Returns the counts, and 1 or 0.
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
    """Use memory while Redis is down: sign-in needs rate limits."""

    retry_at = 0.0

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        self._redis = _shared_cache(server, params["OPTIONS"]["timeout"])
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
    """Increment in one round trip; Django's cache takes three."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._client, self._coalescer = _shared_client(server, params["OPTIONS"]["timeout"])

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
        """Increment all counters, or none if one would exceed its limit."""
        keys = [self.make_and_validate_key(key) for key in limits]
        ttl = int(self.default_timeout or 0)
        reply = self._client.eval(_COUNT_WITHIN, len(keys), *keys, delta, ttl, *limits.values())
        *counts, fits = reply
        return bool(fits), counts

    def is_healthy(self) -> bool:
        """A Redis that replies to PING may refuse writes."""
        # Outside the coalescer, so that requests don't queue behind this.
        (count,) = _increment_all(self._client, [self._increment("is-healthy")])
        return count > 0

    def _increment(self, key: str, delta: int = 1, version: Version = None) -> _Increment:
        key = self.make_and_validate_key(key, version=version)
        return key, delta, int(self.default_timeout or 0)


@lru_cache(maxsize=8)
def _shared_cache(server: str, timeout: float) -> RedisCache:
    options = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    return RedisCache(server, {"OPTIONS": options})


@lru_cache(maxsize=8)
def _shared_client(server: str, timeout: float) -> tuple[redis.Redis, Coalescer[_Increment, int]]:
    client = redis.Redis.from_url(
        server,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        # Reconnect once, but don't wait for a second timeout.
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )

    @cache
    def counting_client() -> redis.Redis:
        # A coalescer runs one group at a time, so one connection serves all. The pool would check
        # before each use whether it's open.
        single: redis.Redis = client.client()  # type: ignore[no-untyped-call]
        return single

    return client, Coalescer(lambda increments: _increment_all(counting_client(), increments))


def _increment_all(client: redis.Redis, increments: list[_Increment]) -> list[int]:
    keys = [key for key, *_ in increments]
    arguments = [argument for _, *pair in increments for argument in pair]
    counts: list[int] = client.eval(_COUNT, len(keys), *keys, *arguments)
    return counts
