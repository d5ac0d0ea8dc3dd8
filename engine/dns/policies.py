from engine.dns.dmarc import DmarcRecord, find_inherited_policy, names_in_tree_walk, parse_dmarc
from engine.dns.messages import Outcome, Query
from engine.dns.resolver import Lookup
from engine.dns.spf import classify_spf, find_spf_redirect, lists_senders

# Longer names leave no room for the label.
_MAX_DMARC_DOMAIN_LENGTH = 253 - len("_dmarc.")


class Policies:
    def __init__(self, lookup: Lookup, domain: str) -> None:
        self._lookup = lookup
        self._domain = domain
        self._txt = Query(domain, "TXT")
        self._spf_redirect: Query | None = None
        self._dmarc = {
            name: Query(f"_dmarc.{name}", "TXT")
            for name in names_in_tree_walk(domain)
            if len(name) <= _MAX_DMARC_DOMAIN_LENGTH
        }
        self._first_dmarc = next(iter(self._dmarc.values()))
        self._followed: list[Query] = []
        lookup.on_reply = self._follow_policies

    def send_queries(self) -> None:
        self._lookup.send(self._txt, self._first_dmarc)

    def wait(self, until: float) -> None:
        self._lookup.wait([self._txt, self._first_dmarc], until=until)
        self._lookup.wait(self._followed, until=until)

    def domain_exists(self) -> bool | None:
        """Return True if the reply proves it, else None."""
        reply = self._lookup.replies.get(self._txt)
        exists = reply is not None and reply.outcome in {Outcome.FOUND, Outcome.NO_DATA}
        return True if exists else None

    def spf(self) -> str | None:
        reply = self._lookup.replies.get(self._spf_redirect or self._txt)
        if reply is None or not reply.is_conclusive:
            return None
        if find_spf_redirect(reply.records):
            return None
        spf = classify_spf(reply.records)
        # RFC 7208, 6.1: mechanisms go before a redirect.
        own = self._lookup.replies[self._txt].records
        is_redirected = self._spf_redirect is not None
        return "strict" if is_redirected and spf == "denies_all" and lists_senders(own) else spf

    def dmarc(self, *, exists: bool) -> str | None:
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
            if record.ends_tree_walk:
                break
        return find_inherited_policy(parents, exists=exists)

    def _follow_policies(self, query: Query) -> None:
        reply = self._lookup.replies[query]
        if not reply.is_conclusive:
            return
        if query == self._txt and self._spf_redirect is None:
            target = find_spf_redirect(reply.records)
            if target:
                self._spf_redirect = Query(target, "TXT")
                self._follow(self._spf_redirect)
        elif query == self._first_dmarc:
            has_own = self._domain in self._dmarc and parse_dmarc(reply.records) is not None
            if not has_own:
                self._follow(*list(self._dmarc.values())[1:])

    def _follow(self, *queries: Query) -> None:
        self._followed += queries
        self._lookup.send(*queries)
