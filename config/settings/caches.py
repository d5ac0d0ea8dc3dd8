"""CACHES: SQLite in the data folder, or Redis, which several machines can share.

"default" is for pages. "counters" counts requests for the rate limits, with a timeout short enough
for API requests. "hourly_counters" uses the same store with counters that expire after an hour.
"""

from pathlib import Path
from typing import Any

COUNTERS_TIMEOUT_SECONDS = 0.5
PAGES_TIMEOUT_SECONDS = 1.0
# Counters live a little longer than the minute or hour that they count.
COUNTERS_EXPIRE_SECONDS = 70
HOURLY_COUNTERS_EXPIRE_SECONDS = 3_670


def cache_settings(redis_url: str, file: Path) -> dict[str, dict[str, Any]]:
    caches = _redis_caches(redis_url) if redis_url else _sqlite_caches(str(file))
    caches["hourly_counters"] = {**caches["counters"], "TIMEOUT": HOURLY_COUNTERS_EXPIRE_SECONDS}
    caches["counters"]["TIMEOUT"] = COUNTERS_EXPIRE_SECONDS
    return caches


def _sqlite_caches(file: str) -> dict[str, dict[str, Any]]:
    return {
        "default": {"BACKEND": "runtime.cache.sqlite.SQLiteCache", "LOCATION": file},
        "counters": {
            "BACKEND": "runtime.cache.sqlite.SQLiteCounters",
            "LOCATION": file,
            "OPTIONS": {"busy_timeout": COUNTERS_TIMEOUT_SECONDS},
        },
    }


def _redis_caches(url: str) -> dict[str, dict[str, Any]]:
    return {
        "default": {
            "BACKEND": "runtime.cache.redis.FallbackRedisCache",
            "LOCATION": url,
            "OPTIONS": _redis_options(PAGES_TIMEOUT_SECONDS),
        },
        "counters": {
            "BACKEND": "runtime.cache.redis.RedisCounters",
            "LOCATION": url,
            "OPTIONS": _redis_options(COUNTERS_TIMEOUT_SECONDS),
        },
    }


def _redis_options(seconds: float) -> dict[str, Any]:
    return {
        "pool_class": "runtime.cache.redis.SharedPool",
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
    }
