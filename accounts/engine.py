from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Protocol

from django.conf import settings
from django.db import connections

from engine import Engine, Resolver, StaffDomains
from runtime.database.pool import release_connection
from runtime.hooks import Hook
from runtime.http.load_shedding import concurrency_limit
from runtime.metrics.client import before_each_flush
from runtime.metrics.dns import export_counters
from runtime.tracing import IS_ON as IS_TRACED
from runtime.tracing import child_span


class ReadStaffDomains(Protocol):
    def __call__(self) -> StaffDomains:
        """Return staff's domains, as the same object until they change."""


class EngineStart(Protocol):
    def __call__(self) -> None:
        """Start what the process does besides, once."""


on_engine_start = Hook[EngineStart]("ON_ENGINE_START")
staff_domains = Hook[ReadStaffDomains]("STAFF_DOMAINS")


class TracedResolver(Resolver):
    @contextmanager
    def start_lookup(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        with child_span("search DNS"), super().start_lookup(*args, **kwargs) as lookup:
            yield lookup


@cache
def get_engine() -> Engine:
    """Return the process's engine, whose DNS cache all threads share."""
    resolver_class = TracedResolver if IS_TRACED else Resolver
    (read_staff_domains,) = staff_domains
    engine = Engine(
        resolver_class(
            settings.DNS_RESOLVERS, seconds=settings.DNS_TIMEOUT, cache_size=settings.DNS_CACHE_SIZE
        ),
        staff_domains=read_staff_domains,
        before_waiting=release_capacity,
        # An ending thread would take its connection from the pool.
        after_thread=connections.close_all,
    )
    before_each_flush.append(partial(export_counters, engine))
    for start in on_engine_start:
        start()
    return engine


def release_capacity() -> None:
    """Release the request's slot and connection while its thread waits for DNS."""
    concurrency_limit.leave()
    release_connection()
