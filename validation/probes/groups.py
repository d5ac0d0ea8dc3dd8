"""The mailbox checks of lists. A list collects their answers by chunk, and charges for them."""

import random
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db.models import Count, Max, Q
from django.utils import timezone

from accounts.models import Account
from engine import Finding
from runtime.encryption import DecryptionFailed, decrypt, encrypt
from runtime.json_text import render_json
from validation.account_domains import matching
from validation.addresses import address_hash
from validation.ids import RESULT_PREFIX, new_ids
from validation.models import MailHostPace, Probe, ProbeGroup
from validation.models.probes import MailHostPaceQuerySet, ProbeQuerySet
from validation.probes.assessment import MAX_DURATION, Assessment
from validation.probes.egress import egresses

_BATCH_SIZE = 500


class Collected(NamedTuple):
    """A check that is done."""

    pk: int
    # The result, or None if no answer came, for this reason.
    result: dict[str, Any] | None
    reason: str


def build_checks(list_id: str, chunk_id: int, assessments: Sequence[Assessment]) -> list[Probe]:
    """Return checks to store with the chunk's results. Call this outside a transaction."""
    if not assessments:
        return []
    group = ProbeGroup.objects.get(list_id=list_id)
    # The same address may occur twice.
    chosen = {address_hash(each.finding.email): each for each in assessments}
    organizations = {each.organization for each in chosen.values()}
    refusing = _refusing().filter(organization__in=organizations)
    unusable = set(refusing.values_list("organization", "egress"))
    checks = []
    ids = new_ids(RESULT_PREFIX, len(chosen))
    for result_id, (address, each) in zip(ids, chosen.items(), strict=True):
        names = [name for name in egresses() if (each.organization, name) not in unusable]
        parts = each.finding.parts
        checks.append(
            Probe(
                result_id=result_id,
                account_id=group.account_id,
                group=group,
                chunk_id=chunk_id,
                email=encrypt(each.finding.email),
                address_hash=address,
                domain=parts.ascii_domain if parts else "",
                organization=each.organization,
                egress=random.choice(names or [*egresses()]),  # noqa: S311 - not a secret
            )
        )
    MailHostPace.objects.ensure((check.organization, check.egress) for check in checks)
    return checks


def finish(probe: Probe, finding: Finding) -> None:
    """Keep the answer until the list collects it. Do nothing if the check has ended."""
    marked = matching.mark(finding, probe.account)
    answer = encrypt(render_json(marked.document()).decode())
    # Why no host was asked, or what it said.
    reason = (finding.smtp and finding.smtp["skipped"]) or finding.reason
    _end(Probe.objects.filter(pk=probe.pk), reason=reason, answer=answer)


def end_refused() -> None:
    """End checks whose hosts won't be asked for long."""
    active = ProbeGroup.objects.active()
    for pace in _refusing().filter(is_idle=False):
        checks = Probe.objects.filter(organization=pace.organization, egress=pace.egress)
        _end(checks.filter(group__in=active), reason="server_refused_us")
        # Until more checks are due.
        MailHostPace.objects.filter(pk=pace.pk).update(is_idle=True)


def _refusing() -> MailHostPaceQuerySet:
    return MailHostPace.objects.refusing(timezone.now() + MAX_DURATION)


def _end(probes: ProbeQuerySet, **changes: str) -> None:
    now = timezone.now()
    probes.waiting().update(done_at=now, next_attempt_at=None, email="", **changes)


def collect(chunk_id: int) -> dict[str, Collected | None]:
    """Return the checks of a chunk by address. None: it isn't done."""
    found: dict[str, Collected | None] = {}
    for probe in Probe.objects.filter(chunk_id=chunk_id):
        result = None
        if probe.answer:
            try:
                result = orjson.loads(decrypt(probe.answer))
            except DecryptionFailed:
                # The SECRET_KEY was removed.
                probe.reason = "check_failed"
        is_done = probe.done_at is not None
        collected = Collected(probe.pk, result, probe.reason) if is_done else None
        found[probe.address_hash] = collected
    return found


def mark_collected(pks: Iterable[int]) -> None:
    """Erase the answers. The rows say how often an account asked for names of a domain."""
    Probe.objects.filter(pk__in=pks).update(chunk_id=None, answer="")


def find_collectable(group: ProbeGroup, share: float) -> list[int]:
    """Return the chunks of which this share of the checks, or all, are done and not collected."""
    is_done = Count("pk", filter=Q(done_at__isnull=False))
    chunks = Probe.objects.filter(group=group, chunk_id__isnull=False).order_by()
    counts = chunks.values("chunk_id").annotate(checks=Count("pk"), done=is_done)
    return [row["chunk_id"] or 0 for row in counts if row["done"] > share * row["checks"]]


def estimate_end(group: ProbeGroup) -> datetime:
    """Return when the slowest mail organization will have been asked about all of its mailboxes."""
    now = timezone.now()
    # Those that are cooling down are also slower.
    slow = {
        (pace.organization, pace.egress): pace
        for pace in MailHostPace.objects.filter(cooling_until__gt=now)
    }
    ends_at = now
    waiting = Probe.objects.waiting().filter(group=group).order_by()
    counts = waiting.values("organization", "egress")
    for row in counts.annotate(number=Count("pk"), last=Max("next_attempt_at")):
        pace = slow.get((row["organization"], row["egress"]))
        begins_at = max(now, row["last"] or now, (pace and pace.cooling_until) or now)
        rate = pace.rate if pace else MailHostPace.START_RATE
        ends_at = max(ends_at, begins_at + timedelta(seconds=row["number"] / rate))
    return ends_at


def follow_list(list_id: str, **changes: object) -> None:
    """Pause, resume or end the checks with their list."""
    ProbeGroup.objects.filter(list_id=list_id).update(**changes)


def open_group(list_id: str, account: Account) -> None:
    """Let the list queue checks, or continue them after a pause."""
    ends_at = timezone.now() + timedelta(hours=settings.PROBE_LIST_HOURS)
    values = {"account": account, "ends_at": ends_at, "is_paused": False}
    ProbeGroup.objects.update_or_create(list_id=list_id, defaults=values)


def delete_ended() -> bool:
    """Delete some checks of ended lists. Return False if there are none."""
    started = time.monotonic()
    ended = ProbeGroup.objects.ended().values("pk")
    waiting = Probe.objects.waiting().filter(group__in=ended).values("pk")[:_BATCH_SIZE]
    deleted, _ = Probe.objects.filter(pk__in=waiting).delete()
    # Other processes get a turn.
    time.sleep(time.monotonic() - started)
    return deleted > 0
