"""Each function locks the list before the wallet, so exactly one concurrent call changes it."""

from collections.abc import Mapping
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
from lists.completion import end_list
from lists.deletion.batch_delete import erase_list, hide_list
from lists.event_types import record_list_event
from lists.models import AddressList
from lists.models.states import FINAL, HOLDING_CREDITS, WORKABLE, ListState
from lists.uploads.limits import require_mailbox_lists
from lists.uploads.options import ListOptions, read_encoding
from lists.uploads.reparsing import parse_again, refuse_unconfirmed
from validation.probes import groups

MAX_PAUSE = timedelta(days=30)
# How long a request erases customer data and other rows. List processes do the rest.
ERASURE_SECONDS, _FACTS_SECONDS = 20.0, 1.0
_NO_ERROR = {"error_code": "", "error_message": ""}
_NOT_STARTING = {"starts_when_ready": False, **_NO_ERROR}


@dataclass(frozen=True, slots=True)
class Start:
    # None and an empty encoding stand for the earlier choice.
    column: int | None = None
    encoding: str = ""
    extracts_addresses: bool | None = None
    max_credits: int | None = None
    checks_mailboxes: bool | None = None
    # Start even if most cells are no addresses, or the encoding is unsure.
    confirm: bool = False


class InvalidState(ApiError):
    def __init__(self, address_list: AddressList) -> None:
        super().__init__("invalid_state", details={"state": address_list.phase})


@transaction.atomic
def rename_list(
    *,
    address_list: AddressList,
    actor: Actor,
    name: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> AddressList:
    """Change the name or the metadata of a list in any state. None changes nothing."""
    locked = AddressList.objects.lock(address_list)
    old = (locked.name, locked.metadata)
    locked.name = locked.name if name is None else name.strip()
    locked.metadata = locked.metadata if metadata is None else metadata
    ListOptions(name=locked.name, metadata=locked.metadata).check()
    if not locked.name:
        raise ApiError("invalid_field", "The name of a list can't be empty.", param="name")
    if (locked.name, locked.metadata) != old:
        locked.save(update_fields=["name", "metadata"])
        locked.record(actor, "list.renamed")
    return locked


@transaction.atomic
def choose_column(
    *,
    address_list: AddressList,
    column: int,
    actor: Actor | None,
    extracts_addresses: bool | None = None,
) -> AddressList:
    """Parse a list again with another column, without starting it."""
    locked = _lock(address_list, {ListState.READY})
    if parse_again(locked, _NOT_STARTING, column=column, extracts_addresses=extracts_addresses):
        locked.record(actor, "list.column_chosen")
    return locked


@transaction.atomic
def choose_encoding(
    *, address_list: AddressList, encoding: str, actor: Actor | None
) -> AddressList:
    """Parse a list again with another encoding, without starting it."""
    encoding = read_encoding(encoding)
    locked = _lock(address_list, {ListState.READY})
    if not parse_again(locked, _NOT_STARTING, encoding=encoding):
        locked.encoding = encoding
        locked.save(update_fields=["encoding"])
    locked.record(actor, "list.encoding_chosen")
    return locked


@transaction.atomic
def start_list(*, address_list: AddressList, start: Start, actor: Actor | None) -> AddressList:
    """Hold the price and queue the list, after parsing it in another way if asked."""
    encoding = read_encoding(start.encoding) if start.encoding else ""
    locked = _lock(address_list, {ListState.READY})
    _refuse_inactive_account(locked.account)
    if start.checks_mailboxes is not None:
        locked.checks_mailboxes = start.checks_mailboxes
        locked.save(update_fields=["checks_mailboxes"])
    if locked.checks_mailboxes:
        require_mailbox_lists(locked.account)
    _charge_to(locked, actor)
    later = {"max_credits": start.max_credits, "is_confirmed": start.confirm}
    if not parse_again(
        locked,
        {"starts_when_ready": True, **later},
        column=start.column,
        encoding=encoding,
        extracts_addresses=start.extracts_addresses,
    ):
        _queue(locked, start)
    locked.record(actor, "list.started")
    return locked


@transaction.atomic
def pause_list(*, address_list: AddressList, actor: Actor | None) -> AddressList:
    """Drop results that are being computed, at no cost."""
    locked = _lock(address_list, HOLDING_CREDITS)
    if locked.change_state(ListState.PAUSED, paused_at=timezone.now()):
        locked.record(actor, "list.paused")
        record_list_event(locked)
    return locked


@transaction.atomic
def resume_list(*, address_list: AddressList, actor: Actor | None) -> AddressList:
    """Continue a list. If its hold has ended, hold the price of the rest."""
    locked = _lock(address_list, HOLDING_CREDITS)
    if locked.state in WORKABLE:
        return locked
    _refuse_inactive_account(locked.account)
    is_rechecking = locked.rechecks or locked.recheck_at
    new = ListState.RECHECKING if is_rechecking else ListState.QUEUED
    locked.change_state(new, paused_at=None, **_NO_ERROR)
    if locked.hold is None or not locked.hold.is_open:
        _charge_to(locked, actor)
        _hold(locked, locked.remaining_price)
    if locked.checks_mailboxes:
        groups.open_group(locked.public_id, locked.account)
    locked.record(actor, "list.resumed")
    return locked


@transaction.atomic
def finish_list(*, address_list: AddressList, actor: Actor | None) -> AddressList:
    """Complete a list without the checks that it waits for: rechecks, or mail servers."""
    locked = AddressList.objects.lock(address_list)
    if locked.is_checking_mailboxes and locked.state == ListState.RUNNING:
        locked.rechecks_unknown, locked.collect_at = False, None
        locked.save(update_fields=["rechecks_unknown", "collect_at"])
        groups.follow_list(locked.public_id, ends_at=timezone.now())
        locked.record(actor, "list.finished")
        return locked
    locked = _lock(address_list, {ListState.RECHECKING, ListState.PAUSED, ListState.COMPLETED})
    if locked.state == ListState.PAUSED and locked.results_at is None:
        raise InvalidState(locked)
    if end_list(locked, ListState.COMPLETED):
        locked.record(actor, "list.finished")
    return locked


@transaction.atomic
def cancel_list(*, address_list: AddressList, actor: Actor | None) -> AddressList:
    """Keep the results, and release the remaining credits. With all results, finish the list."""
    locked = _lock(address_list, set(ListState) - FINAL | {ListState.CANCELED})
    if locked.state == ListState.RECHECKING or locked.results_at is not None:
        return finish_list(address_list=locked, actor=actor)
    if end_list(locked, ListState.CANCELED):
        locked.record(actor, "list.canceled")
    return locked


def cancel_long_paused() -> None:
    before = timezone.now() - MAX_PAUSE
    for address_list in AddressList.objects.filter(state=ListState.PAUSED, paused_at__lt=before):
        cancel_list(address_list=address_list, actor=None)


def delete_list(
    *,
    address_list: AddressList,
    actor: Actor,
    only_uploading: bool = False,
    seconds: float = ERASURE_SECONDS,
) -> bool:
    """Erase a list, outside a transaction. With `only_uploading`, skip a complete file."""
    with transaction.atomic():
        locked = AddressList.objects.lock(address_list)
        if only_uploading and locked.state != ListState.UPLOADING:
            return False
        if locked.state in HOLDING_CREDITS | {ListState.PARSING}:
            end_list(locked, ListState.CANCELED)
        locked.record(actor, "list.deleted")
        hide_list(locked)
    erase_list(locked, seconds=seconds, facts_seconds=_FACTS_SECONDS)
    return True


def start_when_ready(address_list: AddressList) -> None:
    """Start a parsed list, or store the reason for the refusal."""
    try:
        start = Start(max_credits=address_list.max_credits, confirm=address_list.is_confirmed)
        start_list(address_list=address_list, start=start, actor=None)
    except InvalidState:
        return
    except ApiError as error:
        ready = AddressList.objects.filter(pk=address_list.pk, state=ListState.READY)
        message = error.message or REFUSALS[error.code].message
        reason = {"error_code": error.code, "error_message": message[:300]}
        with transaction.atomic():
            if ready.update(starts_when_ready=False, **reason):
                record_list_event(ready.get())


def _lock(address_list: AddressList, states: set[ListState] | frozenset[ListState]) -> AddressList:
    """Return the locked row. Raise InvalidState for other states."""
    locked = AddressList.objects.lock(address_list)
    if locked.state not in states:
        raise InvalidState(locked)
    return locked


def _refuse_inactive_account(account: Account) -> None:
    if not account.is_open or account.suspended_at is not None:
        raise ApiError("account_suspended")


def _queue(address_list: AddressList, start: Start) -> None:
    price = address_list.price
    if not address_list.addresses:
        message = "The column has no addresses. Choose another column, or upload another file."
        raise address_list.invalid_state(message, "column")
    if not start.confirm:
        refuse_unconfirmed(address_list, start.encoding or address_list.encoding)
    if start.max_credits is not None and price > start.max_credits:
        raise ApiError(
            "max_credits_exceeded",
            message=f"The list can cost {format_credits(price)}, more than `max_credits`. Raise "
            "`max_credits`, or leave it out.",
            param="max_credits",
            details={"required": price, "max_credits": start.max_credits},
        )
    address_list.change_state(
        ListState.QUEUED,
        started_at=timezone.now(),
        starts_when_ready=False,
        max_credits=start.max_credits,
        **_NO_ERROR,
    )
    _hold(address_list, price)
    if address_list.checks_mailboxes:
        groups.open_group(address_list.public_id, address_list.account)


def _charge_to(address_list: AddressList, actor: Actor | None) -> None:
    """Charge the caller's key, none for the dashboard, and the last one for the service."""
    if actor is not None:
        address_list.key = actor.key
        address_list.save(update_fields=["key"])


def _hold(address_list: AddressList, amount: int) -> None:
    """Hold credits. Each hold of a list has a unique source."""
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
