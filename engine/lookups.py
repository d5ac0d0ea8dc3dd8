import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from functools import partial
from typing import Protocol

from engine.dns.budget import FULL, LIST, LookupScope
from engine.dns.cache import Cache
from engine.dns.mail_route import MailRoute
from engine.dns.mail_route_lookup import find_mail_route
from engine.dns.resolver import Resolver
from engine.dns.slots import LookupSlots
from engine.domain_data import DomainData, StaffDomains
from engine.verdicts.decision import DomainInfo, describe_domain
from engine.verdicts.finding import REFUSED_ROUTE

logger = logging.getLogger(__name__)

RESERVED_ROUTE = MailRoute(problem="reserved_domain")
# Added to the time limit to wait for another call's lookup.
_GRACE_SECONDS = 0.5
# Each further attempt has a quarter of the threads.
ATTEMPTS, FEWER = 3, 4


class LookupLimit(Protocol):
    def allows_lookup(self) -> bool: ...

    def record_exhausted(self) -> None:
        """Count a lookup that exhausted its message budget."""


class LookupShare:
    """How many lookups the batches that share it run at a time."""

    def __init__(self, lookups: int) -> None:
        self.lookups = lookups
        self.slots = threading.Semaphore(lookups)


class DomainLookups:
    def __init__(
        self,
        resolver: Resolver,
        slots: LookupSlots,
        domain_data: DomainData,
        staff_domains: Callable[[], StaffDomains],
        *,
        before_waiting: Callable[[], None],
        after_thread: Callable[[], None],
    ) -> None:
        self._resolver, self._slots, self._domain_data = resolver, slots, domain_data
        self._staff_domains = staff_domains
        self._before_waiting, self._after_thread = before_waiting, after_thread
        self._domains: Cache[str, DomainInfo] = Cache(resolver.cache_size, resolver.clock)
        resolver.trust.on_change.append(self._domains.drop_since)
        self._lookups: dict[str, Future[DomainInfo]] = {}
        self._lock = threading.Lock()

    def describe(self, domain: str, route: MailRoute) -> DomainInfo:
        return describe_domain(self._domain_data, domain, route, self._staff_domains())

    def is_needed(self, domain: str) -> bool:
        return self._domains.get(domain) is None and not self._domain_data.is_reserved(domain)

    def find(
        self,
        domain: str,
        scope: LookupScope = FULL,
        limit: LookupLimit | None = None,
        found: dict[str, DomainInfo] | None = None,
    ) -> tuple[DomainInfo, bool | None]:
        """Return a domain's facts, and whether they were cached; None without the DNS."""
        if scope is not FULL:
            # Not cached: the route may lack what checks need.
            if known := self._domains.get(domain):
                route = known.route
            elif self._domain_data.is_reserved(domain):
                route = RESERVED_ROUTE
            else:
                self._before_waiting()
                route = self._query(domain, scope)
            return self.describe(domain, route), None
        info = (found.get(domain) if found else None) or self._domains.get(domain)
        is_cached: bool | None = True
        if info is not None:
            self._resolver.counters.cached_domains += 1
        elif self._domain_data.is_reserved(domain):
            return self.describe(domain, RESERVED_ROUTE), None
        elif limit is not None and not limit.allows_lookup():
            info, is_cached = self.describe(domain, REFUSED_ROUTE), None
        else:
            info, sent_queries = self._look_up(domain, limit)
            is_cached = not sent_queries
        # Read after waiting, so that changes of staff and of the domain data apply.
        is_current = info.versions is self._domain_data.versions
        if not is_current or info.staff_domains is not self._staff_domains():
            info = self.describe(domain, info.route)
            self._cache_domain(domain, info)
        if found is not None:
            found[domain] = info
        return info, is_cached

    def find_many(
        self,
        domains: Iterable[str],
        *,
        ends_at: float,
        share: LookupShare,
        limit: LookupLimit | None,
    ) -> dict[str, DomainInfo]:
        """Return what is known at the deadline. Lookups that still run may add to it."""
        needed = list(dict.fromkeys(filter(self.is_needed, domains)))
        found: dict[str, DomainInfo] = {}
        if not needed:
            return found

        def seconds_left() -> float:
            return max(0.0, ends_at - time.monotonic())

        def look_up(domain: str) -> None:
            if share.slots.acquire(timeout=seconds_left()):
                try:
                    self.find(domain, limit=limit, found=found)
                except Exception:
                    logger.exception("A lookup failed, so the domain's addresses get dns_timeout")
                finally:
                    share.slots.release()
                    self._after_thread()

        self._before_waiting()
        threads = ThreadPoolExecutor(min(share.lookups, len(needed)), thread_name_prefix="batch")
        try:
            wait([threads.submit(look_up, domain) for domain in needed], seconds_left())
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
        return found

    def find_routes(
        self, domains: Sequence[str], at_once: int, limit: LookupLimit | None
    ) -> Iterator[tuple[str, MailRoute]]:
        domains = list(dict.fromkeys(domains))
        for attempt in range(ATTEMPTS):
            doubtful, started = [], self._resolver.clock()
            threads = ThreadPoolExecutor(at_once, thread_name_prefix="list")
            try:
                find_route = partial(self._find_route, limit=limit, ignores_cache=attempt > 0)
                futures = {threads.submit(find_route, domain): domain for domain in domains}
                for future in as_completed(futures):
                    domain, route = futures[future], future.result()
                    has_lagged = self._resolver.lagged_at >= started
                    if route.problem == "dns_timeout" and has_lagged and attempt < ATTEMPTS - 1:
                        doubtful.append(domain)
                    else:
                        yield domain, route
            finally:
                threads.shutdown(cancel_futures=True)
            domains, at_once = doubtful, max(1, at_once // FEWER)

    def _find_route(
        self, domain: str, *, limit: LookupLimit | None, ignores_cache: bool
    ) -> MailRoute:
        if self._domain_data.is_reserved(domain):
            return RESERVED_ROUTE
        cached = None if ignores_cache else self._domains.get(domain)
        if cached is not None:
            self._resolver.counters.cached_domains += 1
            return cached.route
        if limit is not None and not limit.allows_lookup():
            return REFUSED_ROUTE
        try:
            return self._look_up(domain, limit, LIST)[0].route
        except Exception:
            logger.exception("A lookup failed, so the domain's addresses get check_failed")
            return MailRoute(problem="check_failed")
        finally:
            self._after_thread()

    def _look_up(
        self, domain: str, limit: LookupLimit | None, scope: LookupScope = FULL
    ) -> tuple[DomainInfo, bool]:
        """Return a domain's facts, and whether a query was sent. Concurrent calls wait."""
        self._before_waiting()
        with self._lock:
            lookup = self._lookups.get(domain)
            is_first = lookup is None
            if lookup is None:
                lookup = self._lookups[domain] = Future()
        if not is_first:
            try:
                return lookup.result(self._resolver.seconds + _GRACE_SECONDS), True
            except TimeoutError:
                return self.describe(domain, MailRoute(problem="dns_timeout")), True
        self._resolver.counters.lookups += 1
        try:
            trust_changes = self._resolver.trust.changes
            route = self._query(domain, scope)
            info = self.describe(domain, route)
            # Cached before the lookup ends, or another call would start one. A change of trust has
            # just dropped such results.
            if self._resolver.trust.changes == trust_changes:
                self._cache_domain(domain, info)
            lookup.set_result(info)
        except BaseException as error:
            # SystemExit or a killed greenlet ends only this call.
            is_failure = isinstance(error, Exception)
            lookup.set_exception(error if is_failure else RuntimeError("The lookup was stopped"))
            raise
        finally:
            with self._lock:
                del self._lookups[domain]
        if route.is_exhausted and limit is not None:
            limit.record_exhausted()
        return info, route.sent_queries

    def _cache_domain(self, domain: str, info: DomainInfo) -> None:
        expires_at = info.route.expires_at
        if expires_at > self._resolver.clock():
            owner = self._domain_data.find_owner(domain)
            self._domains.put(domain, info, expires_at=expires_at, owner=owner)

    def _query(self, domain: str, scope: LookupScope) -> MailRoute:
        find_owner = self._domain_data.find_owner
        return find_mail_route(domain, self._resolver, self._slots, find_owner, scope)
