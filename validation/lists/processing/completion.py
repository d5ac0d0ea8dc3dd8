"""What happens once each address of a list has a result: unknown ones are checked again.

After the last check, or if a list is canceled or fails, its hold is released and its unknown
results, which are free, are recorded as usage.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from credits.wallet.charges import Charge, record_usage
from credits.wallet.holds import release_hold
from validation.engine.verdicts.reasons import Verdict
from validation.lists import emails
from validation.lists.transitions import change_state
from validation.models import AddressList
from validation.models.list_states import HOLDING_CREDITS, State

# When unknown results are checked again, after the list's last check.
RECHECK_AFTER = (timedelta(minutes=1), timedelta(minutes=10), timedelta(minutes=60))
INTERNAL_ERROR = "internal_error"
_INTERNAL_ERROR_MESSAGE = (
    "Something went wrong on our side, so the list is incomplete. Addresses without a result were "
    "not charged. Upload the list again, or contact us."
)


@transaction.atomic
def finish_round(address_list: AddressList) -> bool:
    """Plan the next check of unknown results, or complete the list. Return whether it did."""
    locked = AddressList.objects.lock(address_list)
    is_waiting = locked.recheck_at is not None
    if locked.state not in {State.RUNNING, State.RECHECKING} or is_waiting or has_work(locked):
        return False
    change_state(locked, State.RECHECKING)
    if locked.rechecks_unknown and locked.rechecks < len(RECHECK_AFTER) and count_unknown(locked):
        locked.recheck_at = timezone.now() + RECHECK_AFTER[locked.rechecks]
        locked.save(update_fields=["recheck_at"])
    else:
        end_list(locked, State.COMPLETED)
    return True


@transaction.atomic
def begin_recheck(address_list: AddressList) -> bool:
    """Hand out the blocks of domains, and the chunks with unknown results, once more."""
    locked = AddressList.objects.lock(address_list)
    if locked.state != State.RECHECKING or locked.recheck_at is None:
        return False
    locked.recheck_at = None
    locked.rechecks += 1
    locked.save(update_fields=["recheck_at", "rechecks"])
    locked.blocks.update(is_done=False)
    locked.chunks.filter(unknown__gt=0).update(is_done=False)
    return True


@transaction.atomic
def fail_list(address_list: AddressList) -> bool:
    """End a list that we can't finish. Its results so far are kept."""
    error = {"error_code": INTERNAL_ERROR, "error_message": _INTERNAL_ERROR_MESSAGE}
    return end_list(AddressList.objects.lock(address_list), State.FAILED, **error)


def end_list(address_list: AddressList, state: State, **changes: object) -> bool:
    """Change to a final state, and settle the list's credits. The caller has locked its row.

    Return False if the list can't change to this state.
    """
    was_started = address_list.state in HOLDING_CREDITS
    if not change_state(address_list, state, recheck_at=None, **changes):
        return False
    if was_started:
        _record_unknown(address_list)
    if address_list.hold is not None:
        release_hold(hold=address_list.hold)
    if state is State.COMPLETED:
        emails.queue_list_completed(address_list)
    elif state is State.FAILED:
        emails.queue_list_failed(address_list)
    return True


def has_work(address_list: AddressList) -> bool:
    """Return whether any block or chunk is not done, whether or not a process works on it."""
    is_looked_up = not address_list.blocks.filter(is_done=False).exists()
    return not is_looked_up or address_list.chunks.filter(is_done=False).exists()


def count_unknown(address_list: AddressList) -> int:
    """Count the unknown results, without those of the sandbox."""
    return address_list.chunks.aggregate(sum=Sum("unknown"))["sum"] or 0


def _record_unknown(address_list: AddressList) -> None:
    count = count_unknown(address_list)
    if count:
        account, key = address_list.account, address_list.key
        record_usage([Charge(account, key, Verdict.UNKNOWN, 0, None, validations=count)])
