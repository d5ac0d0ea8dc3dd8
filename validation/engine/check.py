"""The entry point of the engine: takes an address, returns a finding, and never raises.

engine = Engine(Resolver(["127.0.0.1:5353"]))
engine.check("jane@shop.com").document()
"""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple, Protocol

from validation.engine.dns.budget import FULL, LIST, SIGN_UP, VISITOR, LookupScope
from validation.engine.dns.cache import Cache
from validation.engine.dns.mail_route import MailRoute
from validation.engine.dns.mail_route_lookup import find_mail_route
from validation.engine.dns.resolver import Resolver
from validation.engine.dns.slots import LookupSlots
from validation.engine.domain_data import BUILT_IN_DATA, NO_STAFF_DOMAINS, DomainData, StaffDomains
from validation.engine.suggestions.repair import repair_address
from validation.engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address
from validation.engine.verdicts.decision import DomainInfo, build_finding, describe_domain
from validation.engine.verdicts.finding import Finding

logger = logging.getLogger(__name__)

# How much longer than the resolver's time limit a call waits for another call's lookup.
_GRACE_SECONDS = 0.5


class SignUpCheck(NamedTuple):
    """What a sign-up form needs to know about an address."""

    is_disposable: bool
    did_you_mean: str | None


class LookupLimit(Protocol):
    """Limits how many costly lookups a caller may cause. Used only for domains not in the cache."""

    def allows_lookup(self) -> bool: ...

    def record_exhausted(self) -> None:
        """Called when a lookup for this caller has exhausted its message budget."""


class Engine:
    def __init__(
        self,
        resolver: Resolver | None = None,
        *,
        domain_data: DomainData = BUILT_IN_DATA,
        slots: LookupSlots | None = None,
        staff_domains: Callable[[], StaffDomains] = lambda: NO_STAFF_DOMAINS,
        before_waiting: Callable[[], None] = lambda: None,
        after_thread: Callable[[], None] = lambda: None,
    ) -> None:
        """Set up an engine, to be shared by all threads.

        `before_waiting` is called before a check waits for the DNS or for another check, and
        `after_thread` at the end of each thread that was started for a batch.
        """
        self.resolver = resolver or Resolver()
        self.domain_data = domain_data
        self.domain_data.load()
        self._staff_domains = staff_domains
        self._before_waiting = before_waiting
        self.after_thread = after_thread
        self._domains: Cache[str, DomainInfo] = Cache(self.resolver.cache_size, self.resolver.clock)
        self.resolver.trust.on_change.append(self._domains.drop_since)
        self._lookups: dict[str, Future[DomainInfo]] = {}
        self.slots = slots or LookupSlots()
        self._lock = threading.Lock()

    def check(
        self,
        email: str,
        limit: LookupLimit | None = None,
        found: dict[str, DomainInfo] | None = None,
        parsed: AddressParts | SyntaxProblem | None = None,
    ) -> Finding:
        """Check an address. Without a limit the caller may cause any number of lookups.

        `found` collects what is known about domains, and is read before the cache: a batch looks up
        each domain once, even if the result can't be cached. `parsed` is the address in its parts,
        if the caller has them.
        """
        return self._check_safely(
            email, lambda email, parts: self._check(email, parts, limit, found), parsed
        )

    def domain_to_look_up(self, parts: AddressParts | SyntaxProblem) -> str | None:
        """Return the domain if checking the address needs the DNS now."""
        if isinstance(parts, SyntaxProblem):
            return None
        domain = parts.ascii_domain
        is_known = self._domains.get(domain) is not None or self.domain_data.is_reserved(domain)
        return None if is_known else domain

    def look_up(self, domain: str, *, ignores_cache: bool = False) -> MailRoute:
        """Return what the DNS says about a domain in ASCII. Looks it up unless it's cached."""
        if self.domain_data.is_reserved(domain):
            return MailRoute(problem="reserved_domain")
        cached = None if ignores_cache else self._domains.get(domain)
        if cached is not None:
            self.resolver.counters.cached_domains += 1
            return cached.route
        try:
            return self._look_up(domain, None, LIST)[0].route
        except Exception:
            logger.exception("A lookup failed, so the domain's addresses get check_failed")
            return MailRoute(problem="check_failed")

    def describe(self, domain: str, route: MailRoute) -> DomainInfo:
        """Return what a check needs to know about a domain, from what the DNS says about it."""
        return describe_domain(self.domain_data, domain, route, self._staff_domains())

    def check_with_facts(self, email: str, facts: Mapping[str, DomainInfo]) -> Finding:
        """Check an address without the DNS, from the facts about its domain.

        An address whose domain is not among the facts gets `check_failed`.
        """
        return self._check_safely(
            email, lambda email, parts: self._check_with_facts(email, parts, facts)
        )

    def check_after_timeout(self, email: str) -> Finding:
        """Return the finding for an address whose lookup took too long."""
        return self._check_safely(
            email,
            lambda email, parts: self._give_up(email, parts, MailRoute(problem="dns_timeout")),
        )

    def prepare_to_wait(self) -> None:
        """Release what the caller should not hold while it waits for other threads' checks."""
        self._before_waiting()

    def check_for_sign_up(self, email: str) -> SignUpCheck:
        """Check an address with at most four messages to resolvers. The result is not cached."""
        finding = self._check_safely(email, partial(self._check_in_scope, SIGN_UP))
        return SignUpCheck(bool(finding.checks.get("disposable")), finding.did_you_mean)

    def check_for_visitor(self, email: str) -> Finding:
        """Check an address as for sign-up, and also whether its first mail host has an address."""
        return self._check_safely(email, partial(self._check_in_scope, VISITOR))

    def check_without_dns(self, email: str) -> Finding:
        """Check the text and the domain data only. Valid addresses get `check_failed`."""
        return self._check_safely(email, lambda _, parts: self._check_offline(email, parts))

    def _check_safely(
        self,
        email: str,
        check: Callable[[str, AddressParts], Finding],
        parsed: AddressParts | SyntaxProblem | None = None,
    ) -> Finding:
        try:
            parts = parsed or parse_address(email)
            if isinstance(parts, SyntaxProblem):
                return self._syntax_finding(email, parts)
            return check(email, parts)
        except Exception:
            # A bug says nothing about the address. The log message must not contain the address.
            logger.exception("The engine failed, so an address was reported as check_failed")
            return Finding(email, ("check_failed",), "syntax", lists=self.domain_data.versions)

    def _check(
        self,
        email: str,
        parts: AddressParts,
        limit: LookupLimit | None,
        found: dict[str, DomainInfo] | None,
    ) -> Finding:
        domain = parts.ascii_domain
        info, sent_queries = found.get(domain) if found else None, False
        info = info or self._domains.get(domain)
        if info is not None:
            self.resolver.counters.cached_domains += 1
        elif self.domain_data.is_reserved(domain):
            return self._check_offline(email, parts)
        else:
            if limit is not None and not limit.allows_lookup():
                route = MailRoute(problem="dns_failure", is_refused=True)
                return self._give_up(email, parts, route, found)
            info, sent_queries = self._look_up(domain, limit)
        # Read after any wait, so that staff's changes apply within seconds.
        staff_domains = self._staff_domains()
        if info.staff_domains is not staff_domains:
            info = describe_domain(self.domain_data, domain, info.route, staff_domains)
            self._cache_domain(domain, info)
        if found is not None:
            found[domain] = info
        return build_finding(self.domain_data, email, parts, info, dns_cached=not sent_queries)

    def _check_with_facts(
        self, email: str, parts: AddressParts, facts: Mapping[str, DomainInfo]
    ) -> Finding:
        info = facts.get(parts.ascii_domain)
        if info is None or self.domain_data.is_reserved(parts.ascii_domain):
            return self._check_offline(email, parts)
        return build_finding(self.domain_data, email, parts, info)

    def _check_in_scope(self, scope: LookupScope, email: str, parts: AddressParts) -> Finding:
        domain = parts.ascii_domain
        cached = self._domains.get(domain)
        if cached is not None:
            route = cached.route
        elif self.domain_data.is_reserved(domain):
            return self._check_offline(email, parts)
        else:
            self._before_waiting()
            find_owner = self.domain_data.find_owner
            route = find_mail_route(domain, self.resolver, self.slots, find_owner, scope)
        info = describe_domain(self.domain_data, domain, route, self._staff_domains())
        return build_finding(self.domain_data, email, parts, info)

    def _give_up(
        self,
        email: str,
        parts: AddressParts,
        route: MailRoute,
        found: dict[str, DomainInfo] | None = None,
    ) -> Finding:
        """Return the finding without a lookup: it was refused, or took too long."""
        info = describe_domain(self.domain_data, parts.ascii_domain, route, self._staff_domains())
        if found is not None:
            found[parts.ascii_domain] = info
        return build_finding(self.domain_data, email, parts, info)

    def _check_offline(self, email: str, parts: AddressParts) -> Finding:
        domain = parts.ascii_domain
        is_reserved = self.domain_data.is_reserved(domain)
        route = MailRoute(problem="reserved_domain" if is_reserved else "check_failed")
        info = describe_domain(self.domain_data, domain, route, self._staff_domains())
        return build_finding(self.domain_data, email, parts, info, is_reserved=is_reserved)

    def _look_up(
        self, domain: str, limit: LookupLimit | None, scope: LookupScope = FULL
    ) -> tuple[DomainInfo, bool]:
        """Return the domain's information, and whether any query was sent for it.

        Concurrent calls for one domain are coalesced: the first does the lookup and the others wait
        for it.
        """
        self._before_waiting()
        with self._lock:
            lookup = self._lookups.get(domain)
            is_first = lookup is None
            if lookup is None:
                lookup = self._lookups[domain] = Future()
        if not is_first:
            return self._wait_for(lookup, domain), True
        self.resolver.counters.lookups += 1
        try:
            trust_changes = self.resolver.trust.changes
            find_owner = self.domain_data.find_owner
            route = find_mail_route(domain, self.resolver, self.slots, find_owner, scope)
            info = self.describe(domain, route)
            # Cached before the lookup ends, or a call arriving in between would start another. A
            # change of trust during the lookup has dropped its results from the caches.
            if self.resolver.trust.changes == trust_changes:
                self._cache_domain(domain, info)
            lookup.set_result(info)
        except BaseException as error:
            # SystemExit or a killed greenlet ends only this call, not those that wait for it.
            is_failure = isinstance(error, Exception)
            lookup.set_exception(error if is_failure else RuntimeError("The lookup was stopped"))
            raise
        finally:
            with self._lock:
                del self._lookups[domain]
        if route.is_exhausted and limit is not None:
            limit.record_exhausted()
        return info, route.sent_queries

    def _wait_for(self, lookup: Future[DomainInfo], domain: str) -> DomainInfo:
        try:
            return lookup.result(self.resolver.seconds + _GRACE_SECONDS)
        except TimeoutError:
            return self.describe(domain, MailRoute(problem="dns_timeout"))

    def _cache_domain(self, domain: str, info: DomainInfo) -> None:
        expires_at = info.route.expires_at
        if expires_at > self.resolver.clock():
            owner = self.domain_data.find_owner(domain)
            self._domains.put(domain, info, expires_at=expires_at, owner=owner)

    def _syntax_finding(self, email: str, problem: SyntaxProblem) -> Finding:
        return Finding(
            email,
            ("invalid_syntax",),
            "syntax",
            checks={"syntax": False},
            syntax_problem=problem,
            did_you_mean=repair_address(email, self.domain_data),
            lists=self.domain_data.versions,
        )
