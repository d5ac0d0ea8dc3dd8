"""Start, pause, resume and cancel lists.

Each function locks the list's row before the wallet's, and changes the state with a conditional
UPDATE. Of several calls at the same time, exactly one changes the list.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from apikeys.actor import Actor
from apikeys.errors import REFUSALS, ApiError
from credits.models import Hold
from credits.money import format_credits
from credits.wallet.holds import hold_credits
from validation.lists.processing.completion import end_list
from validation.lists.recording import record
from validation.lists.transitions import change_state
from validation.models import AddressList
from validation.models.list_states import FINAL, WORKABLE, State

MAX_PAUSE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Start:
    """What the customer chooses when they start a list."""

    # None: the column that was parsed.
    column: int | None = None
    max_credits: int | None = None
    # Start even if most of the cells are no addresses.
    confirm: bool = False


class InvalidState(ApiError):
    def __init__(self, address_list: AddressList) -> None:
        super().__init__("invalid_state", details={"state": address_list.state})


class ConfirmationRequired(ApiError):
    def __init__(self, address_list: AddressList) -> None:
        counts = {"rows": address_list.rows, "not_address": address_list.not_address}
        super().__init__("confirmation_required", param="column", details=counts)


@transaction.atomic
def choose_column(*, address_list: AddressList, column: int, actor: Actor | None) -> AddressList:
    """Parse a list again with another column. It isn't started."""
    locked = _lock(address_list, {State.READY})
    if column != locked.column:
        cleared = {"starts_when_ready": False, "error_code": "", "error_message": ""}
        change_state(locked, State.PARSING, column=column, **cleared)
        record(locked, actor, "list.column_chosen")
    return locked


@transaction.atomic
def start_list(*, address_list: AddressList, start: Start, actor: Actor | None) -> AddressList:
    """Hold the list's price and queue it. With another column, parse it again first.

    `actor`: None for the service.

    Raise InsufficientCredits if the balance or `max_credits` doesn't cover the price, and
    KeyCreditLimitReached if the limit of the key that created the list doesn't.
    """
    locked = _lock(address_list, {State.READY})
    _refuse_inactive_account(locked.account)
    if start.column is not None and start.column != locked.column:
        _parse_again(locked, start)
    else:
        _queue(locked, start)
    record(locked, actor, "list.started")
    return locked


@transaction.atomic
def pause_list(*, address_list: AddressList, actor: Actor | None) -> AddressList:
    """Pause a started list. Results that are being computed are dropped, and cost nothing."""
    locked = _lock(address_list, WORKABLE | {State.PAUSED})
    if change_state(locked, State.PAUSED, paused_at=timezone.now()):
        record(locked, actor, "list.paused")
    return locked


@transaction.atomic
def resume_list(*, address_list: AddressList, actor: Actor | None) -> AddressList:
    """Let a paused list go on. If its hold has ended, hold what the rest can cost."""
    locked = _lock(address_list, WORKABLE | {State.PAUSED})
    if locked.state != State.PAUSED:
        return locked
    _refuse_inactive_account(locked.account)
    is_rechecking = locked.rechecks or locked.recheck_at
    new = State.RECHECKING if is_rechecking else State.QUEUED
    changes = {"paused_at": None, "error_code": "", "error_message": ""}
    change_state(locked, new, **changes)
    if locked.hold is None or not locked.hold.is_open:
        _hold(locked, locked.addresses - (locked.checked - locked.unknown))
    record(locked, actor, "list.resumed")
    return locked


@transaction.atomic
def cancel_list(*, address_list: AddressList, actor: Actor | None) -> AddressList:
    """End a list, keep its results so far, and release the credits that it still holds.

    A list process deletes what only unfinished lists need: parts of the file, and domains.
    """
    locked = _lock(address_list, set(State) - FINAL | {State.CANCELED})
    if end_list(locked, State.CANCELED):
        record(locked, actor, "list.canceled")
    return locked


def cancel_long_paused() -> None:
    """Cancel lists that have been paused for 30 days. A daily job."""
    before = timezone.now() - MAX_PAUSE
    for address_list in AddressList.objects.filter(state=State.PAUSED, paused_at__lt=before):
        cancel_list(address_list=address_list, actor=None)


def needs_confirmation(address_list: AddressList) -> bool:
    """Return whether most cells of the column are no addresses, so that it may be the wrong one."""
    return 2 * address_list.not_address > address_list.rows - address_list.empty


def start_when_ready(address_list: AddressList) -> None:
    """Start a parsed list as its customer asked for. If that is refused, say why in the list."""
    try:
        start = Start(max_credits=address_list.max_credits, confirm=address_list.is_confirmed)
        start_list(address_list=address_list, start=start, actor=None)
    except InvalidState:
        return
    except ApiError as error:
        ready = AddressList.objects.filter(pk=address_list.pk, state=State.READY)
        message = error.message or REFUSALS[error.code].message
        ready.update(starts_when_ready=False, error_code=error.code, error_message=message[:300])


def _lock(address_list: AddressList, states: set[State] | frozenset[State]) -> AddressList:
    """Lock the list and return its current row. Raise InvalidState unless it's in one of these."""
    locked = AddressList.objects.lock(address_list)
    if locked.state not in states:
        raise InvalidState(locked)
    return locked


def _refuse_inactive_account(account: Account) -> None:
    if not account.is_open or account.suspended_at is not None:
        raise ApiError("account_suspended")


def _parse_again(address_list: AddressList, start: Start) -> None:
    change_state(
        address_list,
        State.PARSING,
        column=start.column,
        max_credits=start.max_credits,
        is_confirmed=start.confirm,
        starts_when_ready=True,
    )


def _queue(address_list: AddressList, start: Start) -> None:
    price = address_list.addresses
    if not start.confirm and needs_confirmation(address_list):
        raise ConfirmationRequired(address_list)
    if start.max_credits is not None and price > start.max_credits:
        raise ApiError(
            "insufficient_credits",
            message=f"The list can cost {format_credits(price)}, more than `max_credits`. Raise "
            "`max_credits`, or leave it out.",
            param="max_credits",
            details={"required": price, "max_credits": start.max_credits},
        )
    changes = {"max_credits": start.max_credits, "error_code": "", "error_message": ""}
    change_state(
        address_list,
        State.QUEUED,
        started_at=timezone.now(),
        starts_when_ready=False,
        **changes,
    )
    _hold(address_list, price)


def _hold(address_list: AddressList, amount: int) -> None:
    """Hold credits for the list. Each of its holds has its own source."""
    if not amount:
        return
    source = f"list:{address_list.public_id}"
    earlier = Hold.objects.filter(source__startswith=source).count()
    address_list.hold = hold_credits(
        account=address_list.account,
        amount=amount,
        source=f"{source}:{earlier + 1}" if earlier else source,
        reason=address_list.name,
        key=address_list.key,
    )
    address_list.save(update_fields=["hold"])
