"""Build the validation engine of this process from the settings, and export its counters."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Protocol

from django.conf import settings
from django.db import connections

from runtime.database.pool import release_connection
from runtime.hooks import Hook
from runtime.http.load_shedding import concurrency_limit
from runtime.metrics.client import (
    DURATION_BUCKETS,
    Counter,
    Gauge,
    Histogram,
    before_each_flush,
    initialize,
)
from runtime.tracing import IS_ON as IS_TRACED
from runtime.tracing import child_span
from validation.engine.check import Engine
from validation.engine.dns.budget import MessageBudget
from validation.engine.dns.resolver import Lookup, Resolver
from validation.engine.domain_data import StaffDomains

_domain_lookups = Counter(
    "emailvalidation_resolver_domains",
    "Domain lookups: known (served from the cache) or searched.",
    ("lookup",),
)
initialize(_domain_lookups, ("known", "searched"))
_dns_queries = Counter(
    "emailvalidation_resolver_questions",
    "DNS queries: known (served from the cache) or asked.",
    ("lookup",),
)
initialize(_dns_queries, ("known", "asked"))
_dns_replies = Counter(
    "emailvalidation_resolver_answers",
    "DNS replies by outcome. Failure, timeout, and over_budget make a verdict unknown.",
    ("outcome",),
)
initialize(_dns_replies, ("found", "no_data", "no_name", "failure", "timeout", "over_budget"))
_reply_seconds = Histogram(
    "emailvalidation_resolver_answer_duration_seconds",
    "Time until a resolver replied.",
    buckets=DURATION_BUCKETS,
)
_forging_resolvers = Gauge(
    "emailvalidation_resolver_lying",
    "Web workers that caught a resolver forging replies.",
    multiprocess_mode="livesum",
)
_active_lookups = Gauge(
    "emailvalidation_resolver_searches",
    "Domain searches in progress.",
    multiprocess_mode="livesum",
)
_waiting_lookups = Gauge(
    "emailvalidation_resolver_searches_waiting",
    "Domain searches waiting for a free slot.",
    multiprocess_mode="livesum",
)


class ReadStaffDomains(Protocol):
    def __call__(self) -> StaffDomains:
        """Return the domains that staff listed, the same object until they change."""


staff_domains = Hook[ReadStaffDomains]("STAFF_DOMAINS")


class TracedResolver(Resolver):
    """A resolver whose lookups have a span. Its class costs nothing while tracing is off."""

    @contextmanager
    def start_lookup(
        self, find_owner: Callable[[str], str], deadline: float, budget: MessageBudget | None = None
    ) -> Iterator[Lookup]:
        with child_span("search DNS"), super().start_lookup(find_owner, deadline, budget) as lookup:
            yield lookup


@cache
def get_engine() -> Engine:
    """Return the engine of this process. All threads share its DNS cache."""
    resolver_class = TracedResolver if IS_TRACED else Resolver
    resolver = resolver_class(
        settings.DNS_RESOLVERS,
        seconds=settings.DNS_TIMEOUT,
        cache_size=settings.DNS_CACHE_SIZE,
    )
    (read_staff_domains,) = staff_domains
    process_engine = Engine(
        resolver,
        staff_domains=read_staff_domains,
        before_waiting=_release_capacity,
        # A thread that ends with an open connection would take it from the pool for good.
        after_thread=connections.close_all,
    )
    before_each_flush.append(lambda: _export_counters(process_engine))
    return process_engine


def _export_counters(process_engine: Engine) -> None:
    """Copy the engine's counters to the metrics. The engine itself doesn't import them."""
    counters = process_engine.resolver.take_counters()
    _domain_lookups.labels("known").inc(counters.cached_domains)
    _domain_lookups.labels("searched").inc(counters.lookups)
    _dns_queries.labels("known").inc(counters.cached_replies)
    _dns_queries.labels("asked").inc(counters.queries)
    for outcome, count in counters.replies.items():
        _dns_replies.labels(outcome.replace(" ", "_")).inc(count)
    for seconds in counters.seconds:
        _reply_seconds.observe(seconds)
    _forging_resolvers.set(int(process_engine.resolver.trust.is_lost))
    _active_lookups.set(process_engine.slots.active)
    _waiting_lookups.set(process_engine.slots.waiting)


def check_resolvers(seconds: float) -> bool:
    """Return whether the resolvers reply and none of them forges replies.

    The engine remembers the result: later lookups don't trust a resolver that forged replies.
    """
    return get_engine().resolver.trust.check(seconds)


def _release_capacity() -> None:
    """Release the request slot and the pooled connection while a thread waits for the DNS."""
    concurrency_limit.leave()
    release_connection()
