"""Delete what is known of mailboxes: after a while, and when it has to be erased."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from accounts.models import Account
from engine import Finding
from runtime.database.batches import delete_in_batches
from validation.addresses import address_hash
from validation.models import AcceptAllDomain, KnownMailbox, MailboxCheckDay, Probe, ProbeGroup
from validation.probes.asking import ACCEPTED_LIFETIME
from validation.probes.settlement import finish

# Longer than a result can be read, and than the harvest guard looks back.
PROBE_RETENTION = timedelta(hours=25)


def erase_address(*, email: str, account: Account | None) -> int:
    """Erase the address, and return the number of checks. Those that wait end as unknown."""
    probes = Probe.objects.filter(address_hash=address_hash(email))
    if account is not None:
        probes = probes.filter(account=account)
    for probe in probes.waiting().filter(group=None):
        finish(probe=probe, finding=Finding("", ("check_failed",), "syntax"))
    KnownMailbox.objects.filter(pk=address_hash(email)).delete()
    return delete_in_batches(probes)


def delete_probes(*, account: Account) -> None:
    """Delete the checks of an erased account. A hook."""
    Probe.objects.filter(account=account).delete()
    ProbeGroup.objects.filter(account=account).delete()
    MailboxCheckDay.objects.filter(account=account).delete()


def delete_old_probes() -> None:
    now = timezone.now()
    delete_in_batches(Probe.objects.filter(done_at__lt=now - PROBE_RETENTION, chunk_id=None))
    ended = ProbeGroup.objects.ended(before=now - PROBE_RETENTION)
    delete_in_batches(Probe.objects.filter(group__in=ended))
    ended.delete()
    delete_in_batches(KnownMailbox.objects.filter(expires_at__lt=now))
    old = now - ACCEPTED_LIFETIME
    is_old = ~Q(accepted_at__gte=old) & ~Q(control_at__gte=old)
    delete_in_batches(AcceptAllDomain.objects.filter(is_old))
    MailboxCheckDay.objects.filter(day__lt=now - timedelta(days=2)).delete()
