"""Look up a domain's mail route in two round trips.

First MX, SPF and DMARC; then its mail hosts' or its own addresses, and its parents' DMARC.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from engine.dns.budget import FULL, LookupScope, MessageBudget
from engine.dns.mail_route import MailHost, MailRoute
from engine.dns.messages import MAX_MAIL_HOSTS, Outcome, Query
from engine.dns.networks import is_public
from engine.dns.policies import Policies
from engine.dns.providers import identify_provider
from engine.dns.resolver import FAILURE_CACHE_SECONDS, DnsReply, Lookup, Resolver
from engine.dns.slots import LookupSlots
from engine.dns.trust import ResolverTrust

# After this share of the time, policies aren't awaited.
_POLICY_TIMEOUT_SHARE = 1 / 2
_FABRICATION_TIMEOUT_SHARE = 1 / 6
_IPV4_TIMEOUT_SHARE = 1 / 6
_PATIENT_IPV4_TIMEOUT_SHARE = 1 / 3
# A distant resolver's denials are as late as its other replies.
_DENIAL_TIMEOUT_SHARE = 1 / 2
_IP_ADDRESS = re.compile(r"[0-9.]+|.*:.*")


def find_mail_route(
    domain: str,
    resolver: Resolver,
    slots: LookupSlots,
    find_owner: Callable[[str], str],
    scope: LookupScope = FULL,
) -> MailRoute:
    """Look up a domain within a message budget.

    `find_owner` returns the registrable domain, which shares slots and cache. Without hosts in the
    scope, `accepts_mail` means that mail has a destination.
    """
    budget = MessageBudget(scope.max_messages)
    deadline = resolver.clock() + resolver.lookup_seconds()
    with slots.acquire(find_owner(domain), resolver.seconds) as is_acquired:
        if not is_acquired:
            return MailRoute(problem="dns_timeout", sent_queries=True)
        with resolver.start_lookup(find_owner, deadline, budget) as lookup:
            finder = _RouteFinder(lookup, resolver.trust, domain, scope)
            route = finder.find_route()
            if scope.has_policies:
                probe_deadline = lookup.partial_deadline(_DENIAL_TIMEOUT_SHARE)
                resolver.trust.finish_probes(route, budget, probe_deadline)
            is_definite = route.depends_on_absence or route.depends_on_records
            if resolver.trust.distrusts(route) or (is_definite and not lookup.is_consistent):
                route = MailRoute(problem="dns_failure")
            elif route.domain_exists is not False and scope.has_policies:
                route = finder.add_policies(route)
            return replace(
                route,
                expires_at=finder.expires_at(route),
                sent_queries=lookup.sent_queries,
                is_exhausted=budget.is_exhausted,
            )


class _RouteFinder:
    def __init__(
        self,
        lookup: Lookup,
        trust: ResolverTrust,
        domain: str,
        scope: LookupScope,
    ) -> None:
        self.lookup = lookup
        self.trust = trust
        self.scope = scope
        self.domain = domain
        self.mx = Query(domain, "MX")
        self.policies = Policies(lookup, domain)

    def find_route(self) -> MailRoute:
        self.lookup.send(self.mx)
        if self.scope.has_policies:
            self.policies.send_queries()
            if self.lookup.sent_queries:
                ends_at = self.lookup.partial_deadline(_FABRICATION_TIMEOUT_SHARE)
                self.trust.start_probe(self.lookup.budget, ends_at)
        self.lookup.wait([self.mx])
        reply = self.lookup.replies[self.mx]
        if reply.outcome is Outcome.NXDOMAIN:
            return MailRoute(False, False, False, "domain_not_found")
        if reply.outcome is Outcome.FOUND:
            return self._route_to_mail_hosts(reply)
        if reply.outcome is Outcome.NO_DATA:
            return self._route_to_domain()
        return MailRoute(self.policies.domain_exists(), problem=self._unknown_reason([reply]))

    def add_policies(self, route: MailRoute) -> MailRoute:
        lookup = self.lookup
        until = lookup.started_at + (lookup.deadline - lookup.started_at) * _POLICY_TIMEOUT_SHARE
        self.policies.wait(until)
        # RFC 9989 treats a domain without mail hosts and addresses as nonexistent.
        is_missing = not route.hosts and route.problem == "no_mail_server"
        return replace(
            route,
            domain_exists=route.domain_exists or self.policies.domain_exists(),
            spf=self.policies.spf(),
            dmarc=self.policies.dmarc(exists=not is_missing),
        )

    def expires_at(self, route: MailRoute) -> float:
        replies = self.lookup.replies.values()
        expires_at = min(
            (reply.expires_at for reply in replies if reply.is_conclusive),
            default=self.lookup.started_at + FAILURE_CACHE_SECONDS,
        )
        has_policies = route.spf is not None and route.dmarc is not None
        if route.domain_exists is False or (has_policies and route.accepts_mail is not None):
            return expires_at
        return min(expires_at, self.lookup.started_at + FAILURE_CACHE_SECONDS)

    def _route_to_mail_hosts(self, reply: DnsReply) -> MailRoute:
        mx_hosts = [MailHost(*record) for record in reply.records[:MAX_MAIL_HOSTS]]
        hosts = [mail_host for mail_host in mx_hosts if mail_host.host != "."]
        if not hosts:
            # RFC 7505: a single root host is a null MX.
            return MailRoute(True, False, True, "null_mx")
        provider = identify_provider(mail_host.host for mail_host in hosts)
        route = MailRoute(True, null_mx=False, hosts=tuple(hosts), provider=provider)
        if not self.scope.max_hosts:
            return replace(route, accepts_mail=True)
        # An IP address in place of a name resolves to nothing.
        host_names = (mail_host.host for mail_host in hosts)
        names = list(dict.fromkeys(name for name in host_names if not _IP_ADDRESS.fullmatch(name)))
        route = self._resolve_hosts(route, names[: self.scope.max_hosts])
        has_more = len(names) > self.scope.max_hosts or len(reply.records) > MAX_MAIL_HOSTS
        if not has_more:
            return route
        # Unexamined hosts may have an address.
        if not route.accepts_mail:
            return replace(route, accepts_mail=None, problem="dns_failure")
        return replace(route, has_ipv4=route.has_ipv4 or None)

    def _route_to_domain(self) -> MailRoute:
        """Use the domain as its mail host, without MX records (RFC 5321, 5.1)."""
        a, aaaa = Query(self.domain, "A"), Query(self.domain, "AAAA")
        self.lookup.send(a, aaaa)
        # A is preferred, but must not delay the check.
        if not self._wait_for_ipv4([a], _IPV4_TIMEOUT_SHARE):
            self.lookup.wait([aaaa])
            if not self._is_reachable(aaaa):
                self.lookup.wait([a])
        for query in (a, aaaa):
            if self._is_reachable(query):
                return MailRoute(
                    True,
                    True,
                    null_mx=False,
                    problem="no_mx_record",
                    fallback=query.type.lower(),
                    has_ipv4=self._has_ipv4([a]),
                )
        replies = [self.lookup.replies[query] for query in (a, aaaa)]
        route = self._unreachable_route(MailRoute(True, null_mx=False), replies)
        if any(reply.outcome is Outcome.NXDOMAIN for reply in replies):
            return replace(route, accepts_mail=None, problem="dns_failure")
        return route

    def _is_reachable(self, query: Query) -> bool:
        reply = self.lookup.replies.get(query)
        return reply is not None and _has_public_address(reply)

    def _resolve_hosts(self, route: MailRoute, names: list[str]) -> MailRoute:
        """Find a host with a public address. Without one, a failed query leaves it unknown."""
        queries = [Query(name, record_type) for name in names for record_type in ("A", "AAAA")]
        ipv4_queries = queries[::2]
        if self.scope.is_patient:
            self.lookup.send(*ipv4_queries)
            if self._wait_for_ipv4(ipv4_queries, _PATIENT_IPV4_TIMEOUT_SHARE):
                return replace(route, accepts_mail=True, has_ipv4=True)
        self.lookup.send(*queries)
        if not self.lookup.wait(queries, is_enough=_has_public_address):
            replies = [self.lookup.replies[query] for query in queries]
            return self._unreachable_route(route, replies)
        self._wait_for_ipv4(ipv4_queries, _IPV4_TIMEOUT_SHARE)
        return replace(route, accepts_mail=True, has_ipv4=self._has_ipv4(ipv4_queries))

    def _wait_for_ipv4(self, queries: list[Query], share: float) -> bool:
        until = self.lookup.partial_deadline(share)
        return self.lookup.wait(queries, until=until, is_enough=_has_public_address)

    def _has_ipv4(self, queries: list[Query]) -> bool | None:
        if any(map(self._is_reachable, queries)):
            return True
        replies = map(self.lookup.replies.get, queries)
        is_certain = all(reply is not None and reply.is_conclusive for reply in replies)
        return False if is_certain else None

    def _unreachable_route(self, route: MailRoute, replies: list[DnsReply]) -> MailRoute:
        if not all(reply.is_conclusive for reply in replies):
            return replace(route, problem=self._unknown_reason(replies))
        has_addresses = any(reply.records for reply in replies)
        problem = "unroutable_mail_server" if has_addresses else "no_mail_server"
        return replace(route, accepts_mail=False, problem=problem)

    def _unknown_reason(self, replies: Iterable[DnsReply]) -> str:
        if self.lookup.budget.is_exhausted:
            return "dns_failure"
        has_timeout = any(reply.outcome is Outcome.TIMEOUT for reply in replies)
        return "dns_timeout" if has_timeout else "dns_failure"


def _has_public_address(reply: DnsReply) -> bool:
    return any(map(is_public, reply.records))
