import secrets
from collections.abc import Collection, Sequence

from django.db import transaction
from django.db.models import F

from accounts.models import Account
from apikeys.actor import Actor
from validation.models import AccountDomains

# The limit of both lists together.
MAX_ENTRIES = 10_000
_MAX_NAMED = 3


class DomainsChanged(Exception):
    """Raised if the domains have changed since the caller read them."""


def read_domains(account: Account) -> AccountDomains:
    """Return the account's domains, in a new row if it has none."""
    rows = AccountDomains.objects.filter(account=account)
    # The attribute's default is for rows that aren't stored.
    rows = rows.annotate(version=F("account__domains_version"))  # type: ignore[no-redef]
    return rows.first() or AccountDomains(account_id=account.pk)


@transaction.atomic
def replace_domains(
    *, actor: Actor, allowed: list[str], denied: list[str], etags: Collection[str] | None = None
) -> AccountDomains:
    """Replace both lists. Raise DomainsChanged if their ETag isn't in `etags`."""
    # Concurrent changes wait for each other.
    account = Account.objects.select_for_update(no_key=True).get(pk=actor.account.pk)
    present = read_domains(account)
    if etags is not None and present.etag not in etags:
        raise DomainsChanged
    new = AccountDomains(pk=present.pk, account_id=account.pk, allowed=allowed, denied=denied)
    if present.document() == new.document():
        return present
    _store(new)
    actor.record("domains.changed", describe_change(present, new))
    return new


def _store(domains: AccountDomains) -> None:
    account = Account.objects.filter(pk=domains.account_id)
    if domains.allowed or domains.denied:
        # Random: no cache has other lists under this number, even after a restore.
        domains.version = secrets.randbits(62)
        domains.save()
    else:
        AccountDomains.objects.filter(account_id=domains.account_id).delete()
    account.update(domains_version=domains.version)


def describe_change(before: AccountDomains, after: AccountDomains) -> str:
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
    _store(AccountDomains(account_id=account.pk))


def export_domains(*, account: Account) -> dict[str, object]:
    return {"domains": read_domains(account).document()}
