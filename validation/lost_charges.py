"""Refunds charges that were stored although the request ended in a 503.

The connection to the database was lost during COMMIT, so the caller got no result. The request log
shows whether the charge was stored: its row is written in the same transaction.
"""

import logging
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from credits.models import LedgerEntry
from credits.services import book
from credits.wallet.charges import Charge, refund
from runtime.database.write_behind import WriteBuffer
from validation.models import LogEntry, LostCharge

logger = logging.getLogger(__name__)

# A COMMIT may still be on its way, to a server that is frozen or through a network that is cut.
# No system repeats a packet for longer than this.
SURE_AFTER = timedelta(hours=1)


class _Lost(NamedTuple):
    account_id: int
    result_id: str
    cost: int
    has_log: bool


def remember(account: Account, result_id: str, cost: int) -> None:
    """For the moment the database is back: this process writes it down then."""
    lost.add(_Lost(account.pk, result_id, cost, bool(account.kept_log_days)))


def settle_lost_charges() -> None:
    """A job of the day, for those that were not stored yet when they were written down."""
    sure_before = timezone.now() - SURE_AFTER
    for charge in LostCharge.objects.order_by("pk"):
        if not _refund_if_stored(charge) and charge.created_at <= sure_before:
            charge.delete()


def _write(losses: list[_Lost]) -> None:
    """May be called again with the same ones."""
    logged = [one for one in losses if one.has_log]
    LostCharge.objects.bulk_create(
        [LostCharge(account_id=one.account_id, result_id=one.result_id) for one in logged],
        ignore_conflicts=True,
    )
    for charge in LostCharge.objects.filter(result_id__in=[one.result_id for one in logged]):
        _refund_if_stored(charge)
    for one in losses:
        if not one.has_log:
            _give_credits(one)


@transaction.atomic
def _refund_if_stored(charge: LostCharge) -> bool:
    # Whichever process comes second finds a row that costs nothing any more.
    entries = LogEntry.objects.with_result(charge.result_id).filter(account=charge.account_id)
    entry = entries.filter(cost__gt=0).select_for_update().first()
    if entry is None:
        return False
    refund(Charge(entry.account, entry.key, entry.verdict, entry.cost, 0), entry.at)
    LogEntry.objects.filter(pk=entry.pk).update(cost=0)
    charge.delete()
    logger.info("Refunded the charge of %s, whose response was lost", charge.result_id)
    return True


def _give_credits(one: _Lost) -> None:
    """Without a request log there is no row to look for: the account gets the benefit of doubt."""
    book(
        account=Account.objects.get(pk=one.account_id),
        kind=LedgerEntry.Kind.GRANT,
        amount=one.cost,
        source=f"{LedgerEntry.LOST_CHARGE}{one.result_id}",
        actor=None,
        reason="Credit for a request whose response was lost in an outage",
    )


lost: WriteBuffer[_Lost] = WriteBuffer(_write)
