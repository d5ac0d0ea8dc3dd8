"""Where mail to a domain goes, in two round trips: the door of this package.

First all about the domain itself at the same time: MX, SPF, DMARC. As soon as the mail hosts are
known, their addresses, all at the same time, or the domain's own where it names none.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from validation.engine.dns.budget import LARGEST, LARGEST_FOR_SIGN_UP, MessageBudget
from validation.engine.dns.mail_route import MailHost, Route
from validation.engine.dns.messages import MOST_HOSTS, Outcome, Question
from validation.engine.dns.networks import is_public
from validation.engine.dns.policies import dmarc_of, names_senders, spf_of, spf_redirect
from validation.engine.dns.providers import provider_of
from validation.engine.dns.resolver import FAILURE_HOLDS, DnsReply, Inquiry, Resolver
from validation.engine.dns.slots import SearchSlots
from validation.engine.dns.trust import ResolverTrust

# Below a longer name there is no room for the label that DMARC's records stand under.
_LONGEST_WITH_DMARC = 253 - len("_dmarc.")
# Addresses are looked up for so many mail hosts, those with the best preference.
_EXAMINED_HOSTS = 10
# When the mail's way is known, policies are waited for until this part of the time is over.
_POLICIES_WAIT = 1 / 2
_PATIENCE_WITH_A = 1 / 6
# As a part of the time that is left: for the answers that reveal whether the resolvers lie.
_TRUST_PATIENCE = 1 / 6
# Before something is believed not to exist: a resolver that is far away lies as late as it answers.
_DENIAL_PATIENCE = 1 / 2
_IP_ADDRESS = re.compile(r"[0-9.]+|.*:.*")


def find_route(
    domain: str,
    resolver: Resolver,
    slots: SearchSlots,
    owner_of: Callable[[str], str],
    *,
    for_sign_up: bool = False,
) -> Route:
    """Looks a domain up within its budget of messages. `owner_of` returns the registrable domain,
    whose DMARC record counts for all below it.

    `for_sign_up` asks for the mail hosts' names, or the domain's own address where it has none,
    and for nothing else: `accepts_mail` then means that somewhere to send mail is named.
    """
    budget = MessageBudget(LARGEST_FOR_SIGN_UP if for_sign_up else LARGEST)
    deadline = resolver.clock() + resolver.seconds
    with slots.take(owner_of(domain), resolver.seconds) as is_free:
        if not is_free:
            return Route(problem="dns_timeout", went_out=True)
        with resolver.inquiry(owner_of, deadline, budget) as inquiry:
            search = _Search(
                inquiry, resolver.trust, domain, owner_of(domain), for_sign_up=for_sign_up
            )
            route = search.way_of_mail()
            if not for_sign_up:
                resolver.trust.settle(route, budget, inquiry.part_of_what_is_left(_DENIAL_PATIENCE))
            is_definite = route.rests_on_absence or route.rests_on_records
            if resolver.trust.doubts(route) or (is_definite and not inquiry.is_consistent):
                route = Route(problem="dns_failure")
            elif route.domain_exists is not False and not for_sign_up:
                route = search.add_policies(route)
            return replace(
                route,
                expires_at=search.expires_at(route),
                went_out=inquiry.went_out,
                is_exhausted=budget.is_exhausted,
            )


class _Search:
    def __init__(
        self,
        inquiry: Inquiry,
        trust: ResolverTrust,
        domain: str,
        organisation: str,
        *,
        for_sign_up: bool,
    ) -> None:
        self.inquiry = inquiry
        self.trust = trust
        self.for_sign_up = for_sign_up
        self.domain = domain
        self.mx = Question(domain, "MX")
        self.txt = Question(domain, "TXT")
        self.redirected: Question | None = None
        inquiry.on_answer = self._follow_redirect
        # Each with whether it is asked of the organisation, for all below it.
        self.dmarc = {
            Question(f"_dmarc.{name}", "TXT"): name != domain
            for name in (domain, organisation)
            if len(name) <= _LONGEST_WITH_DMARC
        }

    def way_of_mail(self) -> Route:
        self.inquiry.ask(self.mx)
        if not self.for_sign_up:
            self.inquiry.ask(self.txt, *self.dmarc)
            if self.inquiry.went_out:
                ends_at = self.inquiry.part_of_what_is_left(_TRUST_PATIENCE)
                self.trust.begin(self.inquiry.budget, ends_at)
        self.inquiry.wait([self.mx])
        answer = self.inquiry.answers[self.mx]
        if answer.outcome is Outcome.NO_NAME:
            return Route(False, False, False, "domain_not_found")
        if answer.outcome is Outcome.FOUND:
            return self._to_mail_hosts(answer)
        if answer.outcome is Outcome.NO_DATA:
            return self._to_the_domain_itself()
        return Route(self._is_there(), problem=self._why_unknown([answer]))

    def add_policies(self, route: Route) -> Route:
        inquiry = self.inquiry
        until = inquiry.began_at + (inquiry.deadline - inquiry.began_at) * _POLICIES_WAIT
        inquiry.wait([self.txt, *self.dmarc], until=until)
        if self.redirected is not None:
            inquiry.wait([self.redirected], until=until)
        exists = route.domain_exists or self._is_there()
        return replace(route, domain_exists=exists, spf=self._spf(), dmarc=self._dmarc())

    def expires_at(self, route: Route) -> float:
        """What could not be told and did not matter has no say in it."""
        answers = self.inquiry.answers.values()
        expires_at = min(
            (answer.expires_at for answer in answers if answer.could_tell),
            default=self.inquiry.began_at + FAILURE_HOLDS,
        )
        has_policies = route.spf is not None and route.dmarc is not None
        if route.domain_exists is False or (has_policies and route.accepts_mail is not None):
            return expires_at
        return min(expires_at, self.inquiry.began_at + FAILURE_HOLDS)

    def _to_mail_hosts(self, answer: DnsReply) -> Route:
        listed = [MailHost(*record) for record in answer.records[:MOST_HOSTS]]
        hosts = [one for one in listed if one.host != "."]
        if not hosts:
            # RFC 7505. Of several records the root is just no host.
            return Route(True, False, True, "null_mx")
        route = Route(
            True, null_mx=False, hosts=tuple(hosts), provider=provider_of(one.host for one in hosts)
        )
        if self.for_sign_up:
            return replace(route, accepts_mail=True)
        # The text of an address is no name, though some write it where a name belongs.
        named = dict.fromkeys(one.host for one in hosts if not _IP_ADDRESS.fullmatch(one.host))
        names = list(named)
        route = self._reach(route, names[:_EXAMINED_HOSTS])
        has_others = len(names) > _EXAMINED_HOSTS or len(answer.records) > MOST_HOSTS
        if not route.accepts_mail and has_others:
            # Those that were not examined may have an address.
            return replace(route, accepts_mail=None, problem="dns_failure")
        return route

    def _to_the_domain_itself(self) -> Route:
        """RFC 5321, 5.1: without MX records the domain is its own mail host."""
        own, other = Question(self.domain, "A"), Question(self.domain, "AAAA")
        self.inquiry.ask(own, other)
        # A comes first, unless it keeps us waiting.
        self.inquiry.wait([own], until=self.inquiry.part_of_what_is_left(_PATIENCE_WITH_A))
        if not self._is_reached(own):
            self.inquiry.wait([other])
            if not self._is_reached(other):
                self.inquiry.wait([own])
        for question in (own, other):
            if self._is_reached(question):
                return Route(
                    True,
                    True,
                    null_mx=False,
                    problem="no_mx_record",
                    fallback=question.type.lower(),
                )
        answers = [self.inquiry.answers[question] for question in (own, other)]
        route = self._unreachable(Route(True, null_mx=False), answers)
        if any(answer.outcome is Outcome.NO_NAME for answer in answers):
            # A moment ago the name was there.
            return replace(route, accepts_mail=None, problem="dns_failure")
        return route

    def _is_reached(self, question: Question) -> bool:
        answer = self.inquiry.answers.get(question)
        return answer is not None and _has_public(answer)

    def _reach(self, route: Route, names: list[str]) -> Route:
        """One host with a public address is enough; what cannot be told of others does not matter
        then, and otherwise it does."""
        questions = [Question(name, kind) for name in names for kind in ("A", "AAAA")]
        self.inquiry.ask(*questions)
        if self.inquiry.wait(questions, enough=_has_public):
            return replace(route, accepts_mail=True)
        return self._unreachable(route, [self.inquiry.answers[question] for question in questions])

    def _unreachable(self, route: Route, answers: list[DnsReply]) -> Route:
        if not all(answer.could_tell for answer in answers):
            return replace(route, problem=self._why_unknown(answers))
        leads_nowhere = any(answer.records for answer in answers)
        problem = "unroutable_mail_server" if leads_nowhere else "no_mail_server"
        return replace(route, accepts_mail=False, problem=problem)

    def _follow_redirect(self, question: Question) -> None:
        """Its record is asked for beside the addresses: it costs no round trip of its own."""
        if question != self.txt or self.redirected is not None:
            return
        target = spf_redirect(self.inquiry.answers[question].records)
        if target:
            self.redirected = Question(target, "TXT")
            self.inquiry.ask(self.redirected)

    def _spf(self) -> str | None:
        answer = self.inquiry.answers.get(self.redirected or self.txt)
        if answer is None or not answer.could_tell:
            return None
        # A record that sends on once more is not followed.
        if spf_redirect(answer.records):
            return None
        spf = spf_of(answer.records)
        # RFC 7208, 6.1: what the first record names counts before the other is looked at.
        own = self.inquiry.answers[self.txt].records
        is_redirected = self.redirected is not None
        return "strict" if is_redirected and spf == "denies_all" and names_senders(own) else spf

    def _dmarc(self) -> str | None:
        for question, is_organisation in self.dmarc.items():
            answer = self.inquiry.answers.get(question)
            if answer is None or not answer.could_tell:
                return None
            policy = dmarc_of(answer.records, for_subdomain=is_organisation)
            if policy is not None:
                return policy
        return "none"

    def _why_unknown(self, answers: Iterable[DnsReply]) -> str:
        if self.inquiry.budget.is_exhausted:
            return "dns_failure"
        timed_out = any(answer.outcome is Outcome.TIMEOUT for answer in answers)
        return "dns_timeout" if timed_out else "dns_failure"

    def _is_there(self) -> bool | None:
        answer = self.inquiry.answers.get(self.txt)
        known = answer is not None and answer.outcome in {Outcome.FOUND, Outcome.NO_DATA}
        return True if known else None


def _has_public(answer: DnsReply) -> bool:
    return any(map(is_public, answer.records))
