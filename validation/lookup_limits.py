"""How many lookups that use up their budget of messages an account may cause per hour.

Such a lookup sends 60 messages to resolvers, and its verdict is free. Beyond the limit, calls for
domains that are not cached are `unknown` without a lookup until the hour ends. The count is shared
by all processes. A worker asks for it only before a lookup, at most once per second for each
account; while the store is unavailable, each worker goes on from what it knows.
"""

import time
from dataclasses import dataclass

from django.core.cache import caches

from accounts.models import Account
from apikeys.throttling.limits import ask_counters

# Times the account's requests per minute.
EXHAUSTED_PER_REQUEST = 10
WINDOW_SECONDS = 3600
_REFRESH_SECONDS = 1.0
# Counts of earlier hours are forgotten when there are more than this.
_MOST_LOCAL = 10_000


@dataclass(slots=True)
class _Count:
    hour: int
    exhausted: int = 0
    # When the store was asked last.
    refreshed_at: float = -_REFRESH_SECONDS


class ExhaustedLookups:
    """What this process knows of each account's exhausted lookups in the current hour."""

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    def are_too_many(self, account: Account) -> bool:
        count = self._count(account)
        limit = EXHAUSTED_PER_REQUEST * account.request_limit
        now = time.monotonic()
        if count.exhausted < limit and now - count.refreshed_at >= _REFRESH_SECONDS:
            # Before the store is asked: concurrent calls need not ask as well.
            count.refreshed_at = now
            name = _name(account, count.hour)
            stored = ask_counters(lambda: int(caches["hourly_counters"].get(name, 0)))
            count.exhausted = max(count.exhausted, stored or 0)
        return count.exhausted >= limit

    def note(self, account: Account) -> None:
        count = self._count(account)
        name = _name(account, count.hour)
        stored = ask_counters(lambda: caches["hourly_counters"].incr(name))
        count.exhausted = max(count.exhausted + 1, stored or 0)

    def forget(self) -> None:
        self._counts = {}

    def _count(self, account: Account) -> _Count:
        hour = int(time.time()) // WINDOW_SECONDS
        count = self._counts.get(account.public_id)
        if count is None or count.hour != hour:
            if len(self._counts) > _MOST_LOCAL:
                self._counts = {name: one for name, one in self._counts.items() if one.hour == hour}
            count = self._counts[account.public_id] = _Count(hour)
        return count


def _name(account: Account, hour: int) -> str:
    return f"exhausted-lookups:{account.public_id}:{hour}"


exhausted_lookups = ExhaustedLookups()


@dataclass(slots=True)
class AccountLookupLimit:
    """The engine's LookupLimit for calls of an account."""

    account: Account

    def allows_lookup(self) -> bool:
        return not exhausted_lookups.are_too_many(self.account)

    def note_exhausted(self) -> None:
        exhausted_lookups.note(self.account)
