"""Find the list of an account that has an address's domain.

Each process caches the lists by `Account.domains_version`, which every call reads with its key, so
a change applies to the next call.
"""

from typing import NamedTuple

from accounts.models import Account
from engine import Finding, with_parents
from runtime.database.coalescing import Coalescer
from validation.models import AccountDomains

# This limits the memory of all accounts.
MAX_CACHED_ENTRIES = 200_000


class OwnDomains(NamedTuple):
    version: int | None = None
    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()

    def find(self, ascii_domain: str) -> str | None:
        """Return the list with the domain or one above it. `denied` wins."""
        if not self.denied and not self.allowed:
            return None
        domains = list(with_parents(ascii_domain))
        if not self.denied.isdisjoint(domains):
            return "denied"
        return None if self.allowed.isdisjoint(domains) else "allowed"

    def mark(self, finding: Finding) -> Finding:
        found = self.find(finding.parts.ascii_domain) if finding.parts else None
        return finding if found is None else finding._replace(account_list=found)


NO_DOMAINS = OwnDomains()


def domains_of(account: Account) -> OwnDomains:
    """Return the account's domains, at least as new as `account`."""
    version = account.domains_version
    if version is None:
        return NO_DOMAINS
    cached = _cache.get(account.pk)
    return cached if cached and cached.version == version else _loader.submit(account.pk)


def reload_domains_of(account: Account) -> OwnDomains:
    return domains_of(Account.objects.only("domains_version").get(pk=account.pk))


def mark(finding: Finding, account: Account) -> Finding:
    return finding if account.domains_version is None else domains_of(account).mark(finding)


def _load(account_ids: list[int]) -> list[OwnDomains]:
    rows = AccountDomains.objects.filter(account__in=set(account_ids)).values_list(
        "account_id", "account__domains_version", "allowed", "denied"
    )
    found = {
        account_id: OwnDomains(version, frozenset(allowed), frozenset(denied))
        for account_id, version, allowed, denied in rows
    }
    _cache.update(found)
    if sum(len(own.allowed) + len(own.denied) for own in [*_cache.values()]) > MAX_CACHED_ENTRIES:
        _cache.clear()
    return [found.get(account_id, NO_DOMAINS) for account_id in account_ids]


_cache: dict[int, OwnDomains] = {}
_loader: Coalescer[int, OwnDomains] = Coalescer(_load)
