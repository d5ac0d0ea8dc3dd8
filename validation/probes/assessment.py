"""Decide whether a mail server has to be asked about a mailbox, and from which address."""

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Q
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from engine import (
    AddressParts,
    Finding,
    MailboxAnswer,
    Verdict,
    hides_mailboxes,
    parse_address,
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
HARVEST_GUARD = "harvest_guard"
HARVEST_PERIOD, HARVEST_NAMES, HARVEST_SHARE = timedelta(hours=1), 20, 0.5
# How long a call or batch may wait for a mail server.
MAX_DURATION = timedelta(hours=2)


class Assessment(NamedTuple):
    finding: Finding
    # Whom to ask, and from where. Empty: the finding is final.
    organization: str = ""
    egress: str = ""


class Knowledge(NamedTuple):
    """What the database knows about a mailbox, so that its mail server needn't be asked."""

    is_opted_out: bool
    mailbox: KnownMailbox | None
    # When a host accepted a control name, by host.
    accepts_all: Mapping[str, datetime | None]
    is_harvesting: bool


def assess(finding: Finding, account: Account) -> Assessment:
    assessment = choose_organization(finding)
    organization = assessment.organization
    if not organization:
        return assessment
    knowledge = read_knowledge(account, finding.email, organization)
    if known := answer_from(knowledge, finding):
        return Assessment(known)
    egress = choose_egress(organization)
    if egress is None:
        return Assessment(_without_asking(finding, "cooling_down"))
    return Assessment(finding, organization, egress)


def choose_organization(finding: Finding) -> Assessment:
    """Return whom to ask, by the DNS alone, without an egress."""
    parts, route = finding.parts, finding.route
    is_decided = not finding.is_definite or finding.verdict == Verdict.UNDELIVERABLE
    if parts is None or is_decided or finding.checks["disposable"]:
        return Assessment(_skip(finding, "decided"))
    if hides_mailboxes(parts.ascii_domain, route.provider):
        return Assessment(_skip(finding, "provider_hides"))
    host = _first_host(finding)
    return Assessment(finding, get_engine().domain_data.registrable_domain(host) or host)


def read_knowledge(account: Account, email: str, organization: str) -> Knowledge:
    now, parts = timezone.now(), parse_address(email)
    domain = parts.ascii_domain if isinstance(parts, AddressParts) else ""
    names = {*with_parents(domain), organization}
    accepting = AcceptAllDomain.objects.filter(
        domain=domain, accepts_all=True, control_at__gt=now - ACCEPT_ALL_LIFETIME
    )
    return Knowledge(
        UnprobedDomain.objects.filter(domain__in=names).exists(),
        KnownMailbox.objects.filter(pk=address_hash(email), expires_at__gt=now).first(),
        dict(accepting.values_list("host", "control_at")),
        is_harvesting(account, domain),
    )


def answer_from(knowledge: Knowledge, finding: Finding) -> Finding | None:
    """Return the finding if no mail server has to be asked."""
    known, host = knowledge.mailbox, _first_host(finding)
    if knowledge.is_opted_out:
        return _without_asking(finding, "opted_out")
    if known is not None:
        return with_mailbox(finding, MailboxAnswer(known.reason), known.smtp)
    if accepted_at := knowledge.accepts_all.get(host):
        smtp = smtp_document("done", host=host, control="accepted", probed_at=accepted_at)
        return with_mailbox(finding, MailboxAnswer("accept_all"), smtp)
    return _without_asking(finding, HARVEST_GUARD) if knowledge.is_harvesting else None


def _first_host(finding: Finding) -> str:
    hosts, parts = finding.route.hosts, finding.parts
    return hosts[0].host if hosts else parts.ascii_domain if parts else ""


def _skip(finding: Finding, why: str) -> Finding:
    return finding._replace(smtp=smtp_document("skipped", skipped=why))


def _without_asking(finding: Finding, why: str) -> Finding:
    smtp = smtp_document("skipped", skipped=why)
    return with_mailbox(finding, MailboxAnswer("server_refused_us"), smtp)


def is_harvesting(account: Account, domain: str) -> bool:
    recent = Probe.objects.filter(
        account=account, domain=domain, done_at__gt=timezone.now() - HARVEST_PERIOD
    ).exclude(reason=HARVEST_GUARD)
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
