"""Check addresses: the engine's entry point, which never raises."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from engine.dns.budget import FULL, LookupScope
from engine.dns.mail_route import MailRoute
from engine.dns.messages import Query
from engine.dns.resolver import Resolver
from engine.dns.slots import LookupSlots
from engine.domain_data import DOMAIN_DATA, NO_STAFF_DOMAINS, DomainData, StaffDomains
from engine.lookups import RESERVED_ROUTE, DomainLookups, LookupLimit, LookupShare
from engine.sandbox import sandbox_finding
from engine.suggestions.repair import repair_address
from engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address
from engine.verdicts.decision import DomainInfo, build_finding
from engine.verdicts.finding import Finding

logger = logging.getLogger(__name__)

_NO_FACTS: Mapping[str, DomainInfo] = MappingProxyType({})


class Engine:
    def __init__(
        self,
        resolver: Resolver | None = None,
        *,
        domain_data: DomainData = DOMAIN_DATA,
        slots: LookupSlots | None = None,
        staff_domains: Callable[[], StaffDomains] = lambda: NO_STAFF_DOMAINS,
        before_waiting: Callable[[], None] = lambda: None,
        after_thread: Callable[[], None] = lambda: None,
    ) -> None:
        """`before_waiting` is called before a check waits, `after_thread` after each lookup in a
        thread.
        """
        self.resolver = resolver or Resolver()
        self.slots = slots or LookupSlots()
        self.domain_data = domain_data
        self.domain_data.load()
        self._before_waiting = before_waiting
        self._lookups = DomainLookups(
            self.resolver,
            self.slots,
            domain_data,
            staff_domains,
            before_waiting=before_waiting,
            after_thread=after_thread,
        )

    def check(
        self, email: str, *, scope: LookupScope = FULL, limit: LookupLimit | None = None
    ) -> Finding:
        return self._check(email, lambda domain: self._lookups.find(domain, scope, limit))

    def check_offline(self, email: str, facts: Mapping[str, DomainInfo] = _NO_FACTS) -> Finding:
        """Check an address by facts from `describe`. Without them, the reason is `check_failed`."""

        def find(domain: str) -> tuple[DomainInfo, None]:
            if self.domain_data.is_reserved(domain):
                return self.describe(domain, RESERVED_ROUTE), None
            info = facts.get(domain) or self.describe(domain, MailRoute(problem="check_failed"))
            return info, None

        return self._check(email, find)

    def check_many(
        self,
        emails: Sequence[str],
        *,
        seconds: float,
        share: LookupShare,
        limit: LookupLimit | None = None,
    ) -> list[Finding]:
        """Return findings in order, `unknown` for addresses that take too long."""
        ends_at = time.monotonic() + seconds
        addresses = [(email, parse_address(email)) for email in emails]
        domains = [parts.ascii_domain for _, parts in addresses if isinstance(parts, AddressParts)]
        found = self._lookups.find_many(domains, ends_at=ends_at, share=share, limit=limit)

        def find(domain: str) -> tuple[DomainInfo, bool | None]:
            if domain not in found and self._lookups.is_needed(domain):
                return self.describe(domain, MailRoute(problem="dns_timeout")), None
            return self._lookups.find(domain, limit=limit, found=found)

        return [self._check(email, find, parts) for email, parts in addresses]

    def simulate(self, email: str, word: str) -> Finding:
        return sandbox_finding(self.check_offline(email), word)

    def look_up(
        self, domains: Sequence[str], *, at_once: int, limit: LookupLimit | None = None
    ) -> Iterator[tuple[str, MailRoute]]:
        """Yield each distinct domain, in ASCII, and its route once it is known.

        If threads ran late, domains that timed out are looked up again, in fewer threads.
        """
        return self._lookups.find_routes(domains, at_once, limit)

    def find_addresses(self, host: str) -> frozenset[str] | None:
        """Return a host's addresses, with a non-public one if there is any. None: unknown."""
        self._before_waiting()
        find_owner, seconds = self.domain_data.find_owner, self.resolver.seconds
        queries = [Query(host, "A"), Query(host, "AAAA")]
        deadline = self.resolver.clock() + seconds
        with (
            self.slots.acquire(find_owner(host), seconds) as is_acquired,
            self.resolver.start_lookup(find_owner, deadline) as lookup,
        ):
            if not is_acquired:
                return None
            lookup.send(*queries)
            lookup.wait(queries)
            replies = [lookup.replies[query] for query in queries]
        if not any(reply.is_conclusive for reply in replies):
            return None
        return frozenset(address for reply in replies for address in reply.records)

    def describe(self, domain: str, route: MailRoute) -> DomainInfo:
        return self._lookups.describe(domain, route)

    def _check(
        self,
        email: str,
        find: Callable[[str], tuple[DomainInfo, bool | None]],
        parsed: AddressParts | SyntaxProblem | None = None,
    ) -> Finding:
        """Check an address. `find` returns its domain's facts, and whether they were cached."""
        try:
            parts = parsed or parse_address(email)
            if isinstance(parts, SyntaxProblem):
                return Finding(
                    email,
                    ("invalid_syntax",),
                    "syntax",
                    checks={"syntax": False},
                    syntax_problem=parts,
                    did_you_mean=repair_address(email, self.domain_data),
                    lists=self.domain_data.versions,
                )
            info, is_cached = find(parts.ascii_domain)
            return build_finding(self.domain_data, email, parts, info, dns_cached=is_cached)
        except Exception:
            # A bug says nothing about the address, which the log must not contain.
            logger.exception("The engine failed, so an address was reported as check_failed")
            return Finding(email, ("check_failed",), "syntax", lists=self.domain_data.versions)
