import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from apikeys.actor import Actor
from validation.models import AccountDomains

# The limit of both lists together.
MAX_ENTRIES = 10_000
_MAX_NAMED = 3


class DomainsChanged(Exception):
    """Raised if the domains have changed since the caller read them."""


@dataclass(frozen=True, slots=True)
class DomainLists:
    allowed: Sequence[str] = ()
    denied: Sequence[str] = ()
    version: int | None = None

    @property
    def etag(self) -> str:
        return f'"{self.version or 0:x}"'

    @property
    def is_empty(self) -> bool:
        return not self.allowed and not self.denied

    def document(self) -> dict[str, object]:
        return {"allowed": list(self.allowed), "denied": list(self.denied)}


def read_domains(account: Account) -> DomainLists:
    rows = AccountDomains.objects.filter(account=account)
    found = rows.values_list("allowed", "denied", "account__domains_version").first()
    return DomainLists(*found) if found else DomainLists()


@transaction.atomic
def replace_domains(
    *, actor: Actor, new: DomainLists, etags: Collection[str] | None = None
) -> DomainLists:
    """Replace both lists. Raise DomainsChanged if their ETag isn't in `etags`."""
    # Concurrent changes wait for each other.
    account = Account.objects.select_for_update(no_key=True).get(pk=actor.account.pk)
    present = read_domains(account)
    if etags is not None and present.etag not in etags:
        raise DomainsChanged
    if present.document() == new.document():
        return present
    stored = _store(account, new)
    actor.record("domains.changed", describe_change(present, stored))
    return stored


def _store(account: Account, new: DomainLists) -> DomainLists:
    rows = AccountDomains.objects.filter(account=account)
    if new.is_empty:
        version = None
        rows.delete()
    else:
        # Random: no cache has other lists under this number, even after a restore.
        version = secrets.randbits(62)
        values = {**new.document(), "changed_at": timezone.now()}
        AccountDomains.objects.update_or_create(account=account, defaults=values)
    Account.objects.filter(pk=account.pk).update(domains_version=version)
    return DomainLists(new.allowed, new.denied, version)


def describe_change(before: DomainLists, after: DomainLists) -> str:
    counts = f"{len(after.allowed):,} allowed, {len(after.denied):,} denied"
    changes = [
        *_name_difference("now allowed", after.allowed, before.allowed),
        *_name_difference("now denied", after.denied, before.denied),
        *_name_difference("no longer allowed", before.allowed, after.allowed),
        *_name_difference("no longer denied", before.denied, after.denied),
    ]
    return "; ".join([counts, *changes])


def _name_difference(change: str, these: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    domains = [domain for domain in these if domain not in known]
    if not domains:
        return []
    more = f" and {len(domains) - _MAX_NAMED:,} more" if len(domains) > _MAX_NAMED else ""
    return [f"{change}: {', '.join(domains[:_MAX_NAMED])}{more}"]


def erase_domains(*, account: Account) -> None:
    _store(account, DomainLists())


def export_domains(*, account: Account) -> dict[str, object]:
    return {"domains": read_domains(account).document()}
