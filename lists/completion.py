from datetime import timedelta

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from credits.wallet.charges import Charge, record_usage
from credits.wallet.holds import release_hold, shrink_hold
from engine import Verdict
from lists import emails
from lists.event_types import record_list_event
from lists.models import AddressList
from lists.models.progress import RECHECK_AFTER
from lists.models.states import HOLDING_CREDITS, ListState
from validation.models import ProbeGroup
from validation.probes import groups

# Counting the answers takes a second for millions of addresses.
_COLLECT_AFTER, _COLLECT_AFTER_ADDRESS = timedelta(seconds=1), timedelta(microseconds=100)
# A chunk is checked again when so many of the mailboxes that it waits for have an answer.
_COLLECTED_SHARE = 0.1
INTERNAL_ERROR = "internal_error"
_INTERNAL_ERROR_MESSAGE = (
    "Something went wrong on our side, so the list is incomplete. Addresses without a result were "
    "not charged. Upload the list again, or contact us."
)


@transaction.atomic
def finish_round(address_list: AddressList) -> bool:
    """Plan the next check, or complete the list. Return False if it's too early."""
    locked = AddressList.objects.lock(address_list)
    is_checking = locked.state in {ListState.RUNNING, ListState.RECHECKING}
    unfinished = (rows.filter(is_done=False) for rows in (locked.blocks, locked.chunks))
    if not is_checking or locked.recheck_at or any(rows.exists() for rows in unfinished):
        return False
    if locked.chunks.filter(pending__gt=0).exists():
        return _collect_answers(locked)
    unknown = count_unknown(locked)
    locked.change_state(ListState.RECHECKING)
    if locked.results_at is None:
        # Precedes the event of its completion.
        record_list_event(locked)
    if unknown and locked.rechecks_unknown and locked.rechecks < len(RECHECK_AFTER):
        locked.recheck_at = timezone.now() + RECHECK_AFTER[locked.rechecks]
        locked.save(update_fields=["recheck_at"])
    else:
        end_list(locked, ListState.COMPLETED)
    if locked.results_at is None:
        locked.results_at = timezone.now()
        locked.save(update_fields=["results_at"])
        if locked.hold is not None:
            shrink_hold(hold=locked.hold, to=unknown * locked.unit_price)
        emails.queue_list_results(locked, unknown)
    return True


def _collect_answers(locked: AddressList) -> bool:
    """Make chunks due again for which mail servers have answered."""
    now, pending = timezone.now(), locked.chunks.filter(pending__gt=0)
    if locked.collect_at is not None and locked.collect_at > now:
        return False
    # The rows of ended groups are deleted after a day.
    group = ProbeGroup.objects.filter(list_id=locked.public_id, ends_at__gt=now).first()
    if group is not None:
        pending = pending.filter(pk__in=groups.find_collectable(group, _COLLECTED_SHARE))
        locked.mailboxes_end_at = min(groups.estimate_end(group), group.ends_at)
    is_due = bool(pending.update(is_done=False))
    locked.collect_at = now + max(_COLLECT_AFTER, _COLLECT_AFTER_ADDRESS * locked.addresses)
    locked.save(update_fields=["collect_at", "mailboxes_end_at"])
    return is_due


@transaction.atomic
def begin_recheck(address_list: AddressList) -> bool:
    """Make domains and chunks with unknown results due again."""
    locked = AddressList.objects.lock(address_list)
    if locked.state != ListState.RECHECKING or locked.recheck_at is None:
        return False
    locked.recheck_at = None
    locked.rechecks += 1
    locked.save(update_fields=["recheck_at", "rechecks"])
    locked.blocks.update(is_done=False)
    locked.chunks.filter(unknown__gt=0).update(is_done=False)
    return True


@transaction.atomic
def fail_list(address_list: AddressList) -> bool:
    """Fail a list that has no result for some addresses. Otherwise, complete it."""
    locked = AddressList.objects.lock(address_list)
    if locked.state == ListState.RECHECKING:
        return end_list(locked, ListState.COMPLETED)
    error = {"error_code": INTERNAL_ERROR, "error_message": _INTERNAL_ERROR_MESSAGE}
    return end_list(locked, ListState.FAILED, **error)


def end_list(address_list: AddressList, state: ListState, **changes: object) -> bool:
    """End a list whose row the caller has locked. Return whether the state changed."""
    was_started = address_list.state in HOLDING_CREDITS
    if not address_list.change_state(state, recheck_at=None, **changes):
        return False
    if was_started and (count := count_unknown(address_list)):
        account, key = address_list.account, address_list.key
        unknown = Charge(account, key, Verdict.UNKNOWN, 0, None, validations=count, for_list=True)
        record_usage([unknown])
    if address_list.hold is not None:
        release_hold(hold=address_list.hold)
    record_list_event(address_list)
    if state is ListState.FAILED:
        emails.queue_list_failed(address_list)
    return True


def count_unknown(address_list: AddressList) -> int:
    return address_list.chunks.aggregate(sum=Sum("unknown"))["sum"] or 0
