"""How many requests a minute: the buckets callers spend, counted exactly over all processes.

django-ratelimit counts, in the cache named "counters". Its windows are fixed and include their last
second. The limit is part of a counter's name: a changed limit begins afresh.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from zlib import crc32

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest
from django_ratelimit.core import get_usage

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.throttling.breaker import Breaker
from runtime.http.client_ip import rate_limit_network
from runtime.metrics.registry import Gauge

WINDOW_SECONDS = 60
Found = TypeVar("Found")
# Windows that have ended are forgotten when there are more than this.
MOST_LOCAL = 10_000


@dataclass(frozen=True)
class Bucket:
    # What the answer's RateLimit header calls it.
    policy: str
    # Whose requests are counted together.
    counted: str
    # Buckets of one owner begin their windows at the same second: who waits for one of them need
    # not wait again for the other.
    owner: str
    limit: int


@dataclass(frozen=True)
class BucketState:
    policy: str
    limit: int
    remaining: int
    # Unix seconds; never before the window's true end.
    reset: int
    # Until then, at least 1: who waits so long waits long enough.
    seconds_left: int
    refused: bool = False


# Nobody's, and never spent: of what is spent the store is not asked.
_PROBE = Bucket("probe", "probe", "probe", 1_000_000)


def address_bucket(address: str) -> Bucket:
    caller = rate_limit_network(address)
    return Bucket("address", caller, caller, settings.ANONYMOUS_REQUESTS_PER_MINUTE)


def account_bucket(account: Account) -> Bucket:
    owner = account.public_id
    return Bucket("account", owner, owner, account.request_limit)


def key_bucket(key: ApiKey) -> Bucket | None:
    """Only where it is the lower one: staff or a smaller plan may have gone below it since."""
    limit = key.requests_per_minute
    if limit is None or limit >= key.account.request_limit:
        return None
    return Bucket("key", key.public_id, key.account.public_id, limit)


def consume(request: HttpRequest, bucket: Bucket) -> BucketState:
    return _use(request, bucket, 1)


def peek(request: HttpRequest, bucket: Bucket) -> BucketState:
    return _use(request, bucket, 0)


def peek_local(bucket: Bucket) -> BucketState:
    """What this process knows by itself: for when there is no time to ask the store."""
    return _local.use(bucket, 0)


def _use(request: HttpRequest, bucket: Bucket, amount: int) -> BucketState:
    if known := exhausted_buckets.usage(bucket):
        return known
    if not _breaker.is_open:
        # Before it is counted, which may be in the window after this one.
        end = _window_end(bucket.owner, int(time.time()))
        try:
            usage = _in_store(request, bucket, amount)
        # Whatever a store's library raises, it must not become the caller's answer.
        except Exception as error:
            _breaker.trip(error)
        else:
            if usage.refused:
                exhausted_buckets.note(bucket, end)
            return usage
    return _local.use(bucket, amount)


def _in_store(request: HttpRequest, bucket: Bucket, amount: int) -> BucketState:
    usage = get_usage(
        request,
        group=f"{bucket.policy}:{bucket.counted}",
        key=lambda *_: bucket.owner,
        rate=(bucket.limit, WINDOW_SECONDS),
        increment=bool(amount),
    )
    if usage is None or usage["limit"] == 0:
        raise RuntimeError("The counter gave no count.")
    # The window's last second belongs to it. It may have ended while it was counted in.
    return _usage(bucket, usage["count"], bucket.limit, max(1, usage["time_left"] + 1))


def _usage(bucket: Bucket, count: int, limit: int, seconds_left: int) -> BucketState:
    reset = int(time.time()) + seconds_left
    remaining = max(0, limit - count)
    return BucketState(bucket.policy, bucket.limit, remaining, reset, seconds_left, count > limit)


class ExhaustedBuckets:
    """The buckets of which this process knows that nothing is left until their window ends: a flood
    of requests that are refused asks the store no more."""

    def __init__(self) -> None:
        self._ends: dict[Bucket, int] = {}

    def note(self, bucket: Bucket, end: int) -> None:
        if len(self._ends) > MOST_LOCAL:
            now = time.time()
            self._ends = {one: end for one, end in self._ends.items() if end > now}
        self._ends[bucket] = end

    def usage(self, bucket: Bucket) -> BucketState | None:
        end, now = self._ends.get(bucket, 0), int(time.time())
        if not _is_in_window(now, end):
            return None
        return _usage(bucket, bucket.limit + 1, bucket.limit, end - now)

    def forget(self) -> None:
        self._ends = {}


class LocalCounter:
    """What one worker counts for itself while the store is away: its share of each limit."""

    def __init__(self) -> None:
        # By policy and whose it is: when the window ends, and the count.
        self._windows: dict[tuple[str, str], tuple[int, int]] = {}
        self._lock = threading.Lock()

    def use(self, bucket: Bucket, amount: int) -> BucketState:
        name, now = (bucket.policy, bucket.counted), int(time.time())
        with self._lock:
            if len(self._windows) > MOST_LOCAL:
                self._windows = {n: w for n, w in self._windows.items() if w[0] > now}
            end, count = self._windows.get(name, (0, 0))
            if not _is_in_window(now, end):
                end, count = _window_end(bucket.owner, now), 0
            count += amount
            self._windows[name] = (end, count)
        share = max(1, bucket.limit // settings.WEB_WORKERS)
        return _usage(bucket, count, share, end - now)


def _is_in_window(now: int, end: int) -> bool:
    """The clock may have been set back meanwhile: no window is longer than a minute."""
    return now < end <= now + WINDOW_SECONDS


def _window_end(owner: str, now: int) -> int:
    """The end of the window the store counts in, so that who waited here need not wait there."""
    last_second = crc32(owner.encode()) % WINDOW_SECONDS
    return now + (last_second - now) % WINDOW_SECONDS + 1


def ask_counters(ask: Callable[[], Found]) -> Found | None:
    """Runs another question to the counters' store. Returns None while that is unavailable."""
    if _breaker.is_open:
        return None
    try:
        return ask()
    # As above: whatever a store's library raises.
    except Exception as error:
        _breaker.trip(error)
        return None


def counters_are_reachable() -> bool:
    """Asked as for a request, unless it is known to be away."""
    if not _breaker.is_open:
        consume(HttpRequest(), _PROBE)
    return not _breaker.is_open


def _store_is_well() -> bool:
    return bool(caches[settings.RATELIMIT_USE_CACHE].is_well())  # type: ignore[attr-defined]


exhausted_buckets = ExhaustedBuckets()
_local = LocalCounter()
_breaker = Breaker(_store_is_well)
Gauge(
    "limiter_open",
    "Web workers that count requests by themselves, since the store of the counters is away.",
    read=lambda: _breaker.is_open,
)
