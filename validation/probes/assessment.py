"""Decide whether a mail server has to be asked about a mailbox, and from which address."""

import random
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Count, Q
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from engine import (
    Finding,
    MailboxAnswer,
    Verdict,
    hides_mailboxes,
    smtp_document,
    with_mailbox,
    with_parents,
)
from validation.addresses import address_hash
from validation.models import AcceptAllDomain, KnownMailbox, MailHostPace, Probe, UnprobedDomain
from validation.probes.egress import egresses

ACCEPT_ALL_LIFETIME = timedelta(days=7)
# An account that asks for so many names of a domain within an hour, of which most don't exist, may
# be looking for those that do.
HARVEST_PERIOD, HARVEST_NAMES, HARVEST_SHARE = timedelta(hours=1), 20, 0.5
# How long a call or batch may wait for a mail server.
MAX_DURATION = timedelta(hours=2)


class Assessment(NamedTuple):
    finding: Finding
    # Whom to ask, and from where. Empty: the finding is final.
    organization: str = ""
    egress: str = ""


def assess(finding: Finding, account: Account) -> Assessment:  # noqa: PLR0911 - rules in order
    parts, route = finding.parts, finding.route
    is_decided = not finding.is_definite or finding.verdict == Verdict.UNDELIVERABLE
    if parts is None or is_decided or finding.checks["disposable"]:
        return _skip(finding, "decided")
    domain = parts.ascii_domain
    if hides_mailboxes(domain, route.provider):
        return _skip(finding, "provider_hides")
    host = route.hosts[0].host if route.hosts else domain
    organization = get_engine().domain_data.registrable_domain(host) or host
    names = {*with_parents(domain), organization}
    if UnprobedDomain.objects.filter(domain__in=names).exists():
        return _skip(finding, "opted_out", "server_refused_us")
    if known := _find_known(finding, domain, host):
        return known
    if is_harvesting(account, domain):
        return _skip(finding, "harvest_guard", "server_refused_us")
    egress = choose_egress(organization)
    if egress is None:
        return _skip(finding, "cooling_down", "server_refused_us")
    return Assessment(finding, organization, egress)


def _skip(finding: Finding, why: str, reason: str = "") -> Assessment:
    smtp = smtp_document("skipped", skipped=why)
    if reason:
        return Assessment(with_mailbox(finding, MailboxAnswer(reason), smtp))
    return Assessment(finding._replace(smtp=smtp))


def _find_known(finding: Finding, domain: str, host: str) -> Assessment | None:
    now = timezone.now()
    known = KnownMailbox.objects.filter(pk=address_hash(finding.email), expires_at__gt=now).first()
    if known is not None:
        return Assessment(with_mailbox(finding, MailboxAnswer(known.reason), known.smtp))
    rows = AcceptAllDomain.objects.filter(domain=domain, host=host, accepts_all=True)
    row = rows.filter(control_at__gt=now - ACCEPT_ALL_LIFETIME).first()
    if row is None:
        return None
    smtp = smtp_document("done", host=host, control="accepted", probed_at=row.control_at)
    return Assessment(with_mailbox(finding, MailboxAnswer("accept_all"), smtp))


def is_harvesting(account: Account, domain: str) -> bool:
    recent = Probe.objects.filter(
        account=account, domain=domain, created_at__gt=timezone.now() - HARVEST_PERIOD
    )
    counts = recent.aggregate(
        names=Count("address_hash", distinct=True),
        refused=Count("address_hash", distinct=True, filter=Q(reason="mailbox_not_found")),
    )
    asked: int = counts["names"]
    refused: int = counts["refused"]
    return asked > HARVEST_NAMES and refused > asked * HARVEST_SHARE


def choose_egress(organization: str) -> str | None:
    """Return one that may ask now, else one that may in time, else None."""
    now, names = timezone.now(), list(egresses())
    paces = MailHostPace.objects.filter(organization=organization, egress__in=names)
    off = {pace.egress for pace in paces if pace.is_off}
    cooling = {pace.egress: pace.cooling_until for pace in paces if pace.is_cooling}
    free = [name for name in names if name not in off and name not in cooling]
    soon = [name for name, until in cooling.items() if until and until < now + MAX_DURATION]
    usable = free or [name for name in soon if name not in off]
    return random.choice(usable) if usable else None  # noqa: S311 - not a secret
