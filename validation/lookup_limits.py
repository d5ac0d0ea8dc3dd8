"""Limit how many lookups that exhaust their message budget an account may cause per hour.

Beyond the limit, uncached domains are `unknown` without a lookup, in calls and lists. Processes
share the count, and read it at most once per second and account. While the store is unavailable,
each uses its own.
"""

import time
from dataclasses import dataclass

from django.core.cache import caches

from accounts.models import Account
from apikeys.throttling.limits import query_counters

# Multiplied by the account's requests per minute.
EXHAUSTED_PER_REQUEST = 10
WINDOW_SECONDS = 3600
_REFRESH_SECONDS = 1.0
_MAX_COUNTS = 10_000


@dataclass(slots=True)
class _Count:
    hour: int
    exhausted: int = 0
    refreshed_at: float = -_REFRESH_SECONDS


# By the account's public id.
_counts: dict[str, _Count] = {}


@dataclass(slots=True)
class AccountLookupLimit:
    account: Account

    def allows_lookup(self) -> bool:
        count = self._count()
        limit = EXHAUSTED_PER_REQUEST * self.account.request_limit
        now = time.monotonic()
        if count.exhausted < limit and now - count.refreshed_at >= _REFRESH_SECONDS:
            # This is first, so that concurrent calls don't read the store too.
            count.refreshed_at = now
            key = self._cache_key(count)
            stored = query_counters(lambda: int(caches["hourly_counters"].get(key, 0)))
            count.exhausted = max(count.exhausted, stored or 0)
        return count.exhausted < limit

    def record_exhausted(self) -> None:
        count = self._count()
        key = self._cache_key(count)
        stored = query_counters(lambda: caches["hourly_counters"].incr(key))
        count.exhausted = max(count.exhausted + 1, stored or 0)

    def _count(self) -> _Count:
        hour = int(time.time()) // WINDOW_SECONDS
        count = _counts.get(self.account.public_id)
        if count is None or count.hour != hour:
            if len(_counts) > _MAX_COUNTS:
                forget_counts()
            count = _counts[self.account.public_id] = _Count(hour)
        return count

    def _cache_key(self, count: _Count) -> str:
        return f"exhausted-lookups:{self.account.public_id}:{count.hour}"


def forget_counts() -> None:
    """Forget this process's counts. The store keeps them."""
    _counts.clear()
