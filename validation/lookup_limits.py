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


class ExhaustedLookups:
    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    def is_over_limit(self, account: Account) -> bool:
        count = self._count(account)
        limit = EXHAUSTED_PER_REQUEST * account.request_limit
        now = time.monotonic()
        if count.exhausted < limit and now - count.refreshed_at >= _REFRESH_SECONDS:
            # This is first, so that concurrent calls don't read the store too.
            count.refreshed_at = now
            key = _cache_key(account, count.hour)
            stored = query_counters(lambda: int(caches["hourly_counters"].get(key, 0)))
            count.exhausted = max(count.exhausted, stored or 0)
        return count.exhausted >= limit

    def record(self, account: Account) -> None:
        count = self._count(account)
        key = _cache_key(account, count.hour)
        stored = query_counters(lambda: caches["hourly_counters"].incr(key))
        count.exhausted = max(count.exhausted + 1, stored or 0)

    def clear(self) -> None:
        self._counts = {}

    def _count(self, account: Account) -> _Count:
        hour = int(time.time()) // WINDOW_SECONDS
        count = self._counts.get(account.public_id)
        if count is None or count.hour != hour:
            if len(self._counts) > _MAX_COUNTS:
                # The store has them, too.
                self.clear()
            count = self._counts[account.public_id] = _Count(hour)
        return count


def _cache_key(account: Account, hour: int) -> str:
    return f"exhausted-lookups:{account.public_id}:{hour}"


exhausted_lookups = ExhaustedLookups()


@dataclass(slots=True)
class AccountLookupLimit:
    account: Account

    def allows_lookup(self) -> bool:
        return not exhausted_lookups.is_over_limit(self.account)

    def record_exhausted(self) -> None:
        exhausted_lookups.record(self.account)
