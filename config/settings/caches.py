"""Configure CACHES: SQLite in the data folder, or Redis for several machines."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from config.settings.environment import Environment

FORMAT = "must be of the form redis://host:6379/0."
_REDIS_URL = r"rediss?://([^/:@]*(:[^/@]*)?@)?[\w.-]+(:[0-9]{1,5})?(/[0-9]*)?(\?.*)?|unix://.+"
SQLITE_BACKENDS = ("runtime.cache.sqlite.SQLiteCache", "runtime.cache.sqlite.SQLiteCounters")
REDIS_BACKENDS = ("runtime.cache.redis.FallbackRedisCache", "runtime.cache.redis.RedisCounters")
# Seconds to wait for the store.
PAGES_TIMEOUT, COUNTERS_TIMEOUT = 1.0, 0.5
# Longer than what they count.
COUNTERS_EXPIRE_SECONDS = 70
HOURLY_COUNTERS_EXPIRE_SECONDS = 3_670
DAILY_COUNTERS_EXPIRE_SECONDS = 86_470


def redis_url(env: Environment) -> str:
    url = env.matching("REDIS_URL", "", _REDIS_URL, FORMAT)
    parts = urlsplit(url)
    password = env.url_password("REDIS_PASSWORD", unquote(parts.password or ""))
    if not url or not password:
        return url
    server = parts.netloc.rpartition("@")[2]
    netloc = f"{parts.username or ''}:{quote(password, safe='')}@{server}"
    return parts._replace(netloc=netloc).geturl()


def cache_settings(redis_url: str, file: Path) -> dict[str, dict[str, Any]]:
    location = redis_url or str(file)
    pages, counters = REDIS_BACKENDS if redis_url else SQLITE_BACKENDS
    for_pages = {"BACKEND": pages, "LOCATION": location, "OPTIONS": {"timeout": PAGES_TIMEOUT}}
    for_api = {"BACKEND": counters, "LOCATION": location, "OPTIONS": {"timeout": COUNTERS_TIMEOUT}}
    return {
        "default": for_pages,
        "counters": {**for_api, "TIMEOUT": COUNTERS_EXPIRE_SECONDS},
        "hourly_counters": {**for_api, "TIMEOUT": HOURLY_COUNTERS_EXPIRE_SECONDS},
        "daily_counters": {**for_api, "TIMEOUT": DAILY_COUNTERS_EXPIRE_SECONDS},
    }
