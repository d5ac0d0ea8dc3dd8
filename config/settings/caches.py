"""Django's caches: SQLite in the data folder, or Redis where several machines share them.

"default" is for pages. "counters" counts requests, and is waited for no longer than a caller may
be held up. "hourly_counters" is the same store, with counters that live for an hour.
"""

from pathlib import Path
from typing import Any

COUNTERS_WAIT_SECONDS = 0.5
PAGES_WAIT_SECONDS = 1.0
# What counts the requests of a minute outlives that minute a little.
COUNTERS_LIVE_SECONDS = 70
HOURLY_COUNTERS_LIVE_SECONDS = 3_670


def cache_settings(redis_url: str, file: Path) -> dict[str, dict[str, Any]]:
    caches = _in_redis(redis_url) if redis_url else _in_sqlite(str(file))
    caches["hourly_counters"] = {**caches["counters"], "TIMEOUT": HOURLY_COUNTERS_LIVE_SECONDS}
    caches["counters"]["TIMEOUT"] = COUNTERS_LIVE_SECONDS
    return caches


def _in_sqlite(file: str) -> dict[str, dict[str, Any]]:
    return {
        "default": {"BACKEND": "runtime.cache.sqlite.SQLiteCache", "LOCATION": file},
        "counters": {
            "BACKEND": "runtime.cache.sqlite.SQLiteCounters",
            "LOCATION": file,
            "OPTIONS": {"busy_seconds": COUNTERS_WAIT_SECONDS},
        },
    }


def _in_redis(url: str) -> dict[str, dict[str, Any]]:
    return {
        "default": {
            "BACKEND": "runtime.cache.redis.SturdyRedisCache",
            "LOCATION": url,
            "OPTIONS": _redis_options(PAGES_WAIT_SECONDS),
        },
        "counters": {
            "BACKEND": "runtime.cache.redis.RedisCounters",
            "LOCATION": url,
            "OPTIONS": _redis_options(COUNTERS_WAIT_SECONDS),
        },
    }


def _redis_options(seconds: float) -> dict[str, Any]:
    return {
        "pool_class": "runtime.cache.redis.SharedPool",
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
    }
