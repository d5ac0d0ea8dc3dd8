"""Find mail hosts that many new domains use: a disposable service shows before lists know it."""

from collections.abc import Set
from itertools import islice

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from accounts.engine import get_engine
from engine import (
    DOMAIN_DATA,
    OTHER_PROVIDER,
    AddressParts,
    MailRoute,
    Verdict,
    is_below,
    parse_address,
)
from validation.models import LogEntry, NewMailHost
from validation.models.domains import NEW_FOR

MAX_LOOKUPS = 2_000
LOOKUPS_AT_ONCE = 16


def find_new_mail_hosts() -> None:
    """Do the daily job."""
    if not settings.FIND_MAIL_HOSTS:
        return
    hosts = {row.host: row for row in NewMailHost.objects.all()}
    for row in hosts.values():
        row.forget_old_domains()
    known = {domain for row in hosts.values() for domain in row.domains}
    today = f"{timezone.now():%Y-%m-%d}"
    domains = _find_new_domains(known)
    for domain, route in get_engine().look_up(domains, at_once=LOOKUPS_AT_ONCE):
        for host in _find_unknown_owners(domain, route):
            row = hosts.setdefault(host, NewMailHost(host=host))
            row.domains[domain] = today
            row.number = len(row.domains)
    for row in hosts.values():
        _store(row)


def _find_new_domains(known: Set[str]) -> list[str]:
    """Return domains whose first request is of this week. That takes requests of before."""
    since = timezone.now() - NEW_FOR
    if not LogEntry.objects.filter(at__lte=since).exists():
        return []
    taking_mail = LogEntry.objects.filter(
        sandbox=False, verdict__in=(Verdict.DELIVERABLE, Verdict.RISKY)
    )
    rows = taking_mail.order_by().values("domain").annotate(first_at=Min("at"))
    newest = rows.filter(first_at__gt=since).order_by("-first_at", "domain")
    names = map(_to_ascii, newest.values_list("domain", flat=True).iterator())
    return list(islice((name for name in names if name and name not in known), MAX_LOOKUPS))


def _to_ascii(domain: str) -> str:
    parts = parse_address(f"postmaster@{domain}")
    return parts.ascii_domain if isinstance(parts, AddressParts) else ""


def _find_unknown_owners(domain: str, route: MailRoute) -> set[str]:
    """Return the owners of the domain's mail hosts, but for providers and the domain's own."""
    if route.provider != OTHER_PROVIDER:
        return set()
    owners = {DOMAIN_DATA.find_owner(mail_host.host) for mail_host in route.hosts}
    decided = DOMAIN_DATA.disposable_hosts | DOMAIN_DATA.parking_hosts
    return {owner for owner in owners if not is_below(owner, decided)} - {
        DOMAIN_DATA.find_owner(domain)
    }


def _store(row: NewMailHost) -> None:
    if row.pk is None:
        row.save()
    elif row.domains or row.decision != NewMailHost.Decision.OPEN:
        # Staff may have decided in the meantime.
        row.save(update_fields=["domains", "number"])
    else:
        NewMailHost.objects.filter(pk=row.pk, decision=row.decision).delete()
