"""Refund charges that were stored although the connection was lost during COMMIT.

The request ended in a 503. Its row in the request log shows whether the charge was stored.
"""

import logging
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from credits.models import EntryKind, LedgerEntry
from credits.services import post_entry
from credits.wallet.charges import Charge, refund
from runtime.database.write_behind import WriteBuffer
from validation.models import LogEntry, LostCharge, StoredResult

logger = logging.getLogger(__name__)

# After this, no COMMIT is under way: no operating system retransmits a packet for an hour. A check
# of a mailbox that began with it is charged within two more.
MAX_COMMIT_DELAY = timedelta(hours=3)


class _UncertainCharge(NamedTuple):
    account_id: int
    result_id: str
    cost: int
    has_log: bool


def record_lost_charge(account: Account, result_id: str, cost: int) -> None:
    """Queue the charge, to write it once the database is available again."""
    buffer.add(_UncertainCharge(account.pk, result_id, cost, bool(account.log_retention_days)))


def settle_lost_charges() -> None:
    """Refund charges whose COMMIT was still under way when they were recorded. A daily job."""
    latest_certain = timezone.now() - MAX_COMMIT_DELAY
    for charge in LostCharge.objects.order_by("pk"):
        if not _refund_if_stored(charge) and charge.created_at <= latest_certain:
            charge.delete()


def _write(charges: list[_UncertainCharge]) -> None:
    """Refund the charges found in the request log. A second call refunds nothing."""
    logged = [charge for charge in charges if charge.has_log]
    LostCharge.objects.bulk_create(
        [LostCharge(account_id=charge.account_id, result_id=charge.result_id) for charge in logged],
        ignore_conflicts=True,
    )
    result_ids = [charge.result_id for charge in logged]
    for lost_charge in LostCharge.objects.filter(result_id__in=result_ids):
        _refund_if_stored(lost_charge)
    for charge in charges:
        if not charge.has_log:
            # There is no row to check, so the account gets the credit in any case.
            post_entry(
                account=Account.objects.get(pk=charge.account_id),
                kind=EntryKind.GRANT,
                amount=charge.cost,
                source=f"{LedgerEntry.LOST_CHARGE}{charge.result_id}",
                actor=None,
                reason="Credit for a request whose response was lost in an outage",
            )


@transaction.atomic
def _refund_if_stored(charge: LostCharge) -> bool:
    # The lock lets one process refund: the next one finds a cost of 0.
    entries = LogEntry.objects.with_result(charge.result_id).filter(account=charge.account_id)
    entry = entries.filter(cost__gt=0).select_for_update().first()
    if entry is None:
        return False
    refund(Charge(entry.account, entry.key, entry.verdict, entry.cost, 0), entry.at)
    LogEntry.objects.filter(pk=entry.pk).update(cost=0)
    # Stored results say that a credit was charged. All results of a batch are refunded.
    StoredResult.objects.filter(result_id__in=[charge.result_id, entry.batch_id]).delete()
    charge.delete()
    logger.info("Refunded the charge of %s, whose response was lost", charge.result_id)
    return True


buffer: WriteBuffer[_UncertainCharge] = WriteBuffer(_write)
