"""Requests per minute, counted exactly across processes.

A changed limit starts a new count.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable
from zlib import crc32

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest
from django_ratelimit import ALL
from django_ratelimit.core import _get_window, _make_cache_key, get_usage

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.throttling.breaker import Breaker
from runtime.http.client_ip import rate_limit_network
from runtime.metrics.client import SumGauge, before_each_flush

WINDOW_SECONDS = 60
Result = TypeVar("Result")
# Above this number, ended windows are removed.
MAX_WINDOWS = 10_000


@runtime_checkable
class CounterStore(Protocol):
    """What the counter backends in runtime/cache add to Django's."""

    def is_healthy(self) -> bool: ...

    def incr_within(self, limits: Mapping[str, int], delta: int) -> tuple[bool, list[int]]: ...


@dataclass(frozen=True)
class Bucket:
    policy: str
    subject: str
    # An owner's windows all start at the same second, so that callers wait once.
    owner: str
    limit: int


@dataclass(frozen=True)
class BucketState:
    policy: str
    limit: int
    remaining: int
    # Unix time, not before the window's end.
    reset: int
    # At least 1, and past the window's end.
    seconds_left: int
    refused: bool = False


# For health checks. Its limit is never reached.
_PROBE = Bucket("probe", "probe", "probe", 1_000_000)


def address_bucket(address: str) -> Bucket:
    network = rate_limit_network(address)
    return Bucket("address", network, network, settings.ANONYMOUS_REQUESTS_PER_MINUTE)


def account_bucket(account: Account) -> Bucket:
    owner = account.public_id
    return Bucket("account", owner, owner, account.request_limit)


def key_bucket(key: ApiKey) -> Bucket | None:
    """Return None unless the key's limit is below the account's."""
    limit = key.requests_per_minute
    if limit is None or limit >= key.account.request_limit:
        return None
    return Bucket("key", key.public_id, key.account.public_id, limit)


def consume(request: HttpRequest, bucket: Bucket) -> BucketState:
    return _count(request, bucket, 1)


def consume_together(buckets: Sequence[Bucket], amount: int) -> tuple[bool, list[BucketState]]:
    """Count requests in all buckets if they fit into each, otherwise in none."""
    if not _breaker.is_open:
        try:
            return _count_together_in_store(buckets, amount)
        # The store's errors must not fail requests.
        except Exception as error:
            _breaker.trip(error)
    return _local.count_together(buckets, amount)


def peek(request: HttpRequest, bucket: Bucket) -> BucketState:
    return _count(request, bucket, 0)


def peek_local(bucket: Bucket) -> BucketState:
    """Return the state that this process knows, without a query."""
    return _local.count(bucket, 0)


def _count(request: HttpRequest, bucket: Bucket, amount: int) -> BucketState:
    if exhausted := exhausted_buckets.get(bucket):
        return exhausted
    if not _breaker.is_open:
        # Before the store counts, as a new window may begin in between.
        end = _window_end(bucket.owner, int(time.time()))
        try:
            state = _count_in_store(request, bucket, amount)
        except Exception as error:
            _breaker.trip(error)
        else:
            if state.refused:
                exhausted_buckets.add(bucket, end)
            return state
    return _local.count(bucket, amount)


def _count_in_store(request: HttpRequest, bucket: Bucket, amount: int) -> BucketState:
    usage = get_usage(
        request,
        group=f"{bucket.policy}:{bucket.subject}",
        key=lambda *_: bucket.owner,
        rate=(bucket.limit, WINDOW_SECONDS),
        increment=bool(amount),
    )
    if usage is None or usage["limit"] == 0:
        raise RuntimeError("django-ratelimit returned no count.")
    # The window may have ended while the store counted.
    return _bucket_state(bucket, usage["count"], bucket.limit, max(1, usage["time_left"] + 1))


def _count_together_in_store(
    buckets: Sequence[Bucket], amount: int
) -> tuple[bool, list[BucketState]]:
    store = caches[settings.RATELIMIT_USE_CACHE]
    if not isinstance(store, CounterStore):
        raise TypeError("The counters' cache has no incr_within().")
    windows = [_get_window(bucket.owner, WINDOW_SECONDS) for bucket in buckets]
    keys = map(_counter_key, buckets, windows)
    limits = [bucket.limit for bucket in buckets]
    fits, counts = store.incr_within(dict(zip(keys, limits, strict=True)), amount)
    now = int(time.time())
    seconds_left = [max(1, window - now + 1) for window in windows]
    return fits, list(map(_bucket_state, buckets, counts, limits, seconds_left))


def _counter_key(bucket: Bucket, window: int) -> str:
    """Return the cache key of get_usage(), which can only count one request."""
    rate = (bucket.limit, WINDOW_SECONDS)
    group = f"{bucket.policy}:{bucket.subject}"
    return str(_make_cache_key(group, window, rate, bucket.owner, ALL))


def _bucket_state(bucket: Bucket, count: int, limit: int, seconds_left: int) -> BucketState:
    reset = int(time.time()) + seconds_left
    remaining = max(0, limit - count)
    return BucketState(bucket.policy, bucket.limit, remaining, reset, seconds_left, count > limit)


class ExhaustedBuckets:
    """Remember exhausted buckets until their windows end: a flood must not query the store."""

    def __init__(self) -> None:
        self._ends: dict[Bucket, int] = {}

    def add(self, bucket: Bucket, end: int) -> None:
        if len(self._ends) > MAX_WINDOWS:
            now = time.time()
            self._ends = {known: end for known, end in self._ends.items() if end > now}
        self._ends[bucket] = end

    def get(self, bucket: Bucket) -> BucketState | None:
        end, now = self._ends.get(bucket, 0), int(time.time())
        if not _is_in_window(now, end):
            return None
        return _bucket_state(bucket, bucket.limit + 1, bucket.limit, end - now)

    def clear(self) -> None:
        self._ends = {}


class LocalCounter:
    """Count a worker's requests against its share while the store is unavailable."""

    def __init__(self) -> None:
        # End and count, by policy and subject.
        self._windows: dict[tuple[str, str], tuple[int, int]] = {}
        self._lock = threading.Lock()

    def count(self, bucket: Bucket, amount: int) -> BucketState:
        key, now = (bucket.policy, bucket.subject), int(time.time())
        with self._lock:
            if len(self._windows) > MAX_WINDOWS:
                self._windows = {key: w for key, w in self._windows.items() if w[0] > now}
            end, count = self._windows.get(key, (0, 0))
            if not _is_in_window(now, end):
                end, count = _window_end(bucket.owner, now), 0
            count += amount
            self._windows[key] = (end, count)
        share = max(1, bucket.limit // settings.MACHINE_WORKERS)
        return _bucket_state(bucket, count, share, end - now)

    def count_together(
        self, buckets: Sequence[Bucket], amount: int
    ) -> tuple[bool, list[BucketState]]:
        states = [self.count(bucket, 0) for bucket in buckets]
        fits = all(state.remaining >= amount for state in states)
        return fits, [self.count(bucket, amount) for bucket in buckets] if fits else states


def _is_in_window(now: int, end: int) -> bool:
    """Return whether the window is open. A later end means that the clock was set back."""
    return now < end <= now + WINDOW_SECONDS


def _window_end(owner: str, now: int) -> int:
    """Return the end of the store's window, so that local windows match."""
    last_second = crc32(owner.encode()) % WINDOW_SECONDS
    return now + (last_second - now) % WINDOW_SECONDS + 1


def query_counters(query: Callable[[], Result]) -> Result | None:
    if _breaker.is_open:
        return None
    try:
        return query()
    except Exception as error:
        _breaker.trip(error)
        return None


def counters_are_reachable() -> bool:
    """Check the store by counting a request, as throttles do."""
    if not _breaker.is_open:
        consume(HttpRequest(), _PROBE)
    return not _breaker.is_open


def _store_is_healthy() -> bool:
    store = caches[settings.RATELIMIT_USE_CACHE]
    return isinstance(store, CounterStore) and store.is_healthy()


exhausted_buckets = ExhaustedBuckets()
_local = LocalCounter()
_breaker = Breaker(_store_is_healthy)
_open_breakers = SumGauge(
    "emailvalidation_limiter_open",
    "Web workers that count requests on their own because the rate-limit store is unavailable.",
)
before_each_flush.append(lambda: _open_breakers.set(_breaker.is_open))
