"""Look up a domain's SPF and DMARC policies alongside its mail route."""

from validation.engine.dns.dmarc import (
    DmarcRecord,
    ends_tree_walk,
    find_inherited_policy,
    names_in_tree_walk,
    parse_dmarc,
)
from validation.engine.dns.messages import Outcome, Query
from validation.engine.dns.resolver import DnsReply, Lookup
from validation.engine.dns.spf import classify_spf, find_spf_redirect, lists_senders

# A longer name leaves no room for the label of its DMARC record.
_MAX_DMARC_DOMAIN_LENGTH = 253 - len("_dmarc.")


class Policies:
    """Sends the policy queries of a lookup, and reads their replies."""

    def __init__(self, lookup: Lookup, domain: str) -> None:
        self._lookup = lookup
        self._domain = domain
        self._txt = Query(domain, "TXT")
        self._spf_redirect: Query | None = None
        # The DMARC queries by name: the domain's first, then its parents'.
        self._dmarc = {
            name: Query(f"_dmarc.{name}", "TXT")
            for name in names_in_tree_walk(domain)
            if len(name) <= _MAX_DMARC_DOMAIN_LENGTH
        }
        self._first_dmarc = next(iter(self._dmarc.values()))
        # Queries that followed from the reply to another one.
        self._followed: list[Query] = []
        lookup.on_reply = self._follow_policies

    def send_queries(self) -> None:
        self._lookup.send(self._txt, self._first_dmarc)

    def wait(self, until: float) -> None:
        self._lookup.wait([self._txt, self._first_dmarc], until=until)
        self._lookup.wait(self._followed, until=until)

    def domain_exists(self) -> bool | None:
        """Return True if the reply to the TXT query shows that the domain exists."""
        reply = self._lookup.replies.get(self._txt)
        exists = reply is not None and reply.outcome in {Outcome.FOUND, Outcome.NO_DATA}
        return True if exists else None

    def spf(self) -> str | None:
        reply = self._lookup.replies.get(self._spf_redirect or self._txt)
        if reply is None or not reply.is_conclusive:
            return None
        # Only one redirect is followed.
        if find_spf_redirect(reply.records):
            return None
        spf = classify_spf(reply.records)
        # RFC 7208, 6.1: the mechanisms of the first record are evaluated before its redirect.
        own = self._lookup.replies[self._txt].records
        is_redirected = self._spf_redirect is not None
        return "strict" if is_redirected and spf == "denies_all" and lists_senders(own) else spf

    def dmarc(self, *, exists: bool) -> str | None:
        """Return the policy. RFC 9989 has another one for domains that don't exist."""
        parents: list[tuple[str, DmarcRecord]] = []
        for name, query in self._dmarc.items():
            reply = self._lookup.replies.get(query)
            if reply is None or not reply.is_conclusive:
                return None
            record = parse_dmarc(reply.records)
            if record is None:
                continue
            if name == self._domain:
                return record.own
            parents.append((name, record))
            if ends_tree_walk(record):
                break
        return find_inherited_policy(parents, exists=exists)

    def _follow_policies(self, query: Query) -> None:
        """Send what a policy reply leads to, alongside the addresses: it adds no round trip."""
        reply = self._lookup.replies[query]
        if not reply.is_conclusive:
            return
        if query == self._txt and self._spf_redirect is None:
            target = find_spf_redirect(reply.records)
            if target:
                self._spf_redirect = Query(target, "TXT")
                self._follow(self._spf_redirect)
        elif query == self._first_dmarc and not self._has_own_dmarc(reply):
            self._follow(*list(self._dmarc.values())[1:])

    def _follow(self, *queries: Query) -> None:
        self._followed += queries
        self._lookup.send(*queries)

    def _has_own_dmarc(self, reply: DnsReply) -> bool:
        return self._domain in self._dmarc and parse_dmarc(reply.records) is not None
