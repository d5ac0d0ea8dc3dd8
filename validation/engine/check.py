"""The door of the engine: one address in, one finding out. It never raises.

engine = Engine(Resolver(["127.0.0.1:5353"]))
engine.check("jane@shop.com").document()
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from validation.engine.aliases import canonical_address, split_tag, without_plus
from validation.engine.dns.cache import Cache
from validation.engine.dns.mail_route import Route
from validation.engine.dns.mail_route_lookup import find_route
from validation.engine.dns.resolver import Resolver
from validation.engine.dns.slots import SearchSlots
from validation.engine.domain_data import BUILT_IN_DATA, NO_STAFF_DOMAINS, DomainData, StaffDomains
from validation.engine.reasons import PRECEDENCE
from validation.engine.repair import repaired
from validation.engine.scripts import is_mixed_domain, is_mixed_local_part
from validation.engine.suggest import meant_domain
from validation.engine.syntax import Parts, SyntaxProblem, in_unicode, parse_address
from validation.engine.verdict import Finding

logger = logging.getLogger(__name__)

# Checks whose yes is a reason of the same name, whatever the DNS says.
_RISKS = ("disposable", "mixed_script", "role_account", "no_reply", "smtputf8_required")
# Beyond the resolver's time, for whoever waits for another's search.
_GRACE_SECONDS = 0.5


class Domain(NamedTuple):
    """All that is known of a domain, whoever's mailbox it is."""

    route: Route
    staff: StaffDomains
    registrable: str | None
    meant: str | None
    checks: dict[str, bool | None]


class SignUpCheck(NamedTuple):
    """What a sign-up form has to know of an address."""

    is_disposable: bool
    did_you_mean: str | None


class LookupLimit(Protocol):
    """How many costly lookups a caller may cause. It is asked about domains that are not cached."""

    def allows_lookup(self) -> bool: ...

    def note_exhausted(self) -> None:
        """Called when a lookup for this caller has used up its budget of messages."""


class Engine:
    def __init__(
        self,
        resolver: Resolver | None = None,
        *,
        lists: DomainData = BUILT_IN_DATA,
        slots: SearchSlots | None = None,
        staff_domains: Callable[[], StaffDomains] = lambda: NO_STAFF_DOMAINS,
        before_waiting: Callable[[], None] = lambda: None,
    ) -> None:
        """`before_waiting` is called before a check waits for anything."""
        self.resolver = resolver or Resolver()
        self.lists = lists
        self.lists.load()
        self._staff_domains = staff_domains
        self._before_waiting = before_waiting
        self._domains: Cache[str, Domain] = Cache(self.resolver.cache_size, self.resolver.clock)
        self.resolver.trust.on_change.append(self._domains.drop_since)
        self._searches: dict[str, Future[Domain]] = {}
        self.slots = slots or SearchSlots()
        self._lock = threading.Lock()

    def check(self, email: str, limit: LookupLimit | None = None) -> Finding:
        """Judges an address. Without a limit the caller may cause any number of lookups."""
        return self._guarded(email, lambda email, parts: self._check(email, parts, limit))

    def check_for_sign_up(self, email: str) -> SignUpCheck:
        """Answers a form with at most four messages to resolvers. What it learns of the domain is
        not the whole, and not remembered as such."""
        finding = self._guarded(email, self._check_briefly)
        return SignUpCheck(bool(finding.checks.get("disposable")), finding.did_you_mean)

    def check_without_dns(self, email: str) -> Finding:
        """What the text and the lists say alone; an address that may be one is `check_failed`."""
        return self._guarded(email, lambda _, parts: self._by_lists(email, parts))

    def _guarded(self, email: str, check: Callable[[str, Parts], Finding]) -> Finding:
        try:
            parts = parse_address(email)
            if isinstance(parts, SyntaxProblem):
                return self._no_address(email, parts)
            return check(email, parts)
        except Exception:
            # Whatever it is, it is no verdict about the address. The address stays out of the log.
            logger.exception("The engine failed")
            return Finding(email, ("check_failed",), "syntax", lists=self.lists.versions)

    def _check(self, email: str, parts: Parts, limit: LookupLimit | None) -> Finding:
        domain = parts.ascii_domain
        known, went_out = self._domains.get(domain), False
        if known is not None:
            self.resolver.tally.known_domains += 1
        elif self.lists.is_reserved(domain):
            return self._by_lists(email, parts)
        else:
            if limit is not None and not limit.allows_lookup():
                return self._without_lookup(email, parts)
            known, went_out = self._search(domain, limit)
        # Asked for after any wait: what staff say counts within seconds.
        staff = self._staff_domains()
        if known.staff is not staff:
            known = self._about(domain, known.route, staff)
            self._remember(domain, known)
        return self._finding(email, parts, known, dns_cached=not went_out)

    def _check_briefly(self, email: str, parts: Parts) -> Finding:
        domain = parts.ascii_domain
        known = self._domains.get(domain)
        if known is not None:
            route = known.route
        elif self.lists.is_reserved(domain):
            return self._by_lists(email, parts)
        else:
            self._before_waiting()
            owner_of = self.lists.owner_of
            route = find_route(domain, self.resolver, self.slots, owner_of, for_sign_up=True)
        return self._finding(email, parts, self._about(domain, route, self._staff_domains()))

    def _without_lookup(self, email: str, parts: Parts) -> Finding:
        """The answer to callers whose lookups have used up too many budgets."""
        route = Route(problem="dns_failure", is_refused=True)
        known = self._about(parts.ascii_domain, route, self._staff_domains())
        return self._finding(email, parts, known)

    def _by_lists(self, email: str, parts: Parts) -> Finding:
        domain = parts.ascii_domain
        is_reserved = self.lists.is_reserved(domain)
        route = Route(problem="reserved_domain" if is_reserved else "check_failed")
        known = self._about(domain, route, self._staff_domains())
        return self._finding(email, parts, known, is_reserved=is_reserved)

    def _search(self, domain: str, limit: LookupLimit | None) -> tuple[Domain, bool]:
        """Of several at once for one domain the first asks, the others wait for what it learns.
        With it, whether anybody outside was asked."""
        self._before_waiting()
        with self._lock:
            search = self._searches.get(domain)
            is_first = search is None
            if search is None:
                search = self._searches[domain] = Future()
        if not is_first:
            try:
                return search.result(self.resolver.seconds + _GRACE_SECONDS), True
            except TimeoutError:
                late = Route(problem="dns_timeout")
                return self._about(domain, late, self._staff_domains()), True
        self.resolver.tally.searches += 1
        try:
            changes = self.resolver.trust.changes
            route = find_route(domain, self.resolver, self.slots, self.lists.owner_of)
            known = self._about(domain, route, self._staff_domains())
            # Before the search is over: a call that came in between would begin another. What was
            # learned while trust in the resolvers changed has been dropped, and is not put back.
            if self.resolver.trust.changes == changes:
                self._remember(domain, known)
            search.set_result(known)
        except BaseException as error:
            # That its thread is ended is the first one's fate alone.
            is_ours = isinstance(error, Exception)
            search.set_exception(error if is_ours else RuntimeError("The search was stopped"))
            raise
        finally:
            with self._lock:
                del self._searches[domain]
        if route.is_exhausted and limit is not None:
            limit.note_exhausted()
        return known, route.went_out

    def _remember(self, domain: str, known: Domain) -> None:
        expires_at = known.route.expires_at
        if expires_at > self.resolver.clock():
            owner = self.lists.owner_of(domain)
            self._domains.put(domain, known, until=expires_at, owner=owner)

    def _about(self, domain: str, route: Route, staff: StaffDomains) -> Domain:
        lists = self.lists
        meant = None
        if route.problem != "reserved_domain":
            meant = meant_domain(domain, lists, works=route.accepts_mail, provider=route.provider)
        checks = {
            "syntax": True,
            "domain_exists": route.domain_exists,
            "accepts_mail": route.accepts_mail,
            "null_mx": route.null_mx,
            "disposable": lists.is_disposable(domain, staff),
            "free_provider": domain in lists.free_providers,
            "relay": lists.is_relay(domain),
        }
        meant = in_unicode(meant) if meant is not None else None
        return Domain(route, staff, lists.registrable(domain), meant, checks)

    def _no_address(self, email: str, problem: SyntaxProblem) -> Finding:
        return Finding(
            email,
            ("invalid_syntax",),
            "syntax",
            checks={"syntax": False},
            syntax_problem=problem,
            did_you_mean=repaired(email, self.lists),
            lists=self.lists.versions,
        )

    def _finding(
        self,
        email: str,
        parts: Parts,
        known: Domain,
        *,
        is_reserved: bool = False,
        dns_cached: bool | None = None,
    ) -> Finding:
        local_part, route = parts.local_part, known.route
        tag = split_tag(local_part, parts.ascii_domain, route.provider)[1]
        # Only what stands behind a plus is a tag everywhere: no-reply is one word.
        mailbox = without_plus(local_part).lower()
        checks = known.checks | {
            "role_account": self.lists.is_role_account(mailbox),
            "no_reply": self.lists.is_no_reply(mailbox),
            "has_tag": tag is not None,
            "reserved_domain": is_reserved,
            "smtputf8_required": not local_part.isascii(),
            "mixed_script": is_mixed_domain(parts.domain) or is_mixed_local_part(local_part),
        }
        return Finding(
            email,
            _reasons(checks, route.problem, known.meant),
            "dns" if route.is_known else "syntax",
            parts=parts,
            canonical=canonical_address(local_part, parts.domain, route.provider),
            tag=tag,
            registrable_domain=known.registrable,
            checks=checks,
            route=route,
            did_you_mean=_suggestion(local_part, known.meant),
            lists=self.lists.versions,
            dns_cached=dns_cached,
        )


def _reasons(
    checks: dict[str, bool | None], problem: str | None, meant: str | None
) -> tuple[str, ...]:
    reasons = [name for name in _RISKS if checks[name]]
    if checks["accepts_mail"] is None and not checks["reserved_domain"]:
        # The DNS failed: only the list of throw-away domains still decides.
        return tuple(_in_order(reasons)) if checks["disposable"] else (problem or "check_failed",)
    if problem is not None:
        reasons.append(problem)
    if meant is not None:
        reasons.append("possible_typo")
    return tuple(_in_order(reasons)) or ("domain_accepts_mail",)


def _in_order(reasons: list[str]) -> list[str]:
    return sorted(reasons, key=PRECEDENCE.index)


def _suggestion(local_part: str, meant: str | None) -> str | None:
    suggestion = f"{local_part}@{meant}"
    return suggestion if meant and isinstance(parse_address(suggestion), Parts) else None
