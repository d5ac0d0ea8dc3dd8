"""Create lists, store their uploaded parts, and delete them.

Each function checks and changes one list in a transaction, and raises an ApiError if the list or
the account doesn't allow it. Pages show its message.
"""

import hashlib

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import Account
from apikeys.actor import Actor
from apikeys.errors import ApiError
from runtime.encryption import encrypt_bytes
from validation.lists.deletion import storage
from validation.lists.processing.completion import end_list
from validation.lists.transitions import change_state
from validation.lists.uploads import limits
from validation.lists.uploads.options import (
    DEFAULT_OPTIONS,
    MAX_NAME_LENGTH,
    ListOptions,
    clean_name,
)
from validation.models import AddressList, ListPart, ListUpload
from validation.models.list_states import HOLDING_CREDITS, State

MAX_PART_BYTES = 8 << 20
MAX_PARTS = 10_000
# In a list that is uploaded as JSON.
MAX_EMAILS = 10_000
# How long a request may erase the customer's data, and take altogether if that is done earlier.
_ERASURE_SECONDS, _FACTS_SECONDS = 20.0, 1.0


@transaction.atomic
def create_list(
    *,
    actor: Actor,
    options: ListOptions = DEFAULT_OPTIONS,
    file_name: str = "",
    file_size: int = 0,
) -> AddressList:
    """Create a list that waits for its parts. Refuse a file whose size is known to be too large."""
    options.check()
    account = _lock_account(actor.account)
    limits.check_new_list(account)
    limits.check_bytes(account, file_size)
    name = options.name.strip() or clean_name(file_name) or f"List of {_format_now()}"
    address_list = AddressList.objects.create(
        account=account,
        key=actor.key,
        created_by=actor.name[:254],
        name=name[:MAX_NAME_LENGTH],
        metadata=dict(options.metadata),
        dedupe=options.dedupe,
        rechecks_unknown=options.rechecks_unknown,
        starts_when_ready=options.starts_when_ready,
        max_credits=options.max_credits,
        content_type=options.content_type[:100],
        delimiter=options.delimiter,
        has_header=options.has_header,
        column=options.column,
    )
    ListUpload.objects.create(account=account, list=address_list)
    actor.record("list.created", _describe(address_list))
    return address_list


@transaction.atomic
def upload_list(
    *, actor: Actor, content: bytes, options: ListOptions = DEFAULT_OPTIONS, file_name: str = ""
) -> AddressList:
    """Create a list from a file of at most 8 MB, and begin parsing it."""
    address_list = create_list(actor=actor, options=options, file_name=file_name)
    store_part(address_list=address_list, number=1, content=content)
    begin_parsing(address_list=address_list)
    return address_list


@transaction.atomic
def store_part(
    *, address_list: AddressList, number: int, content: bytes, sha256: str | None = None
) -> ListPart:
    """Store a part of the file, or return the same part if it's stored already.

    `sha256` is the digest that the customer sent, in hexadecimal.
    """
    _check_part(number, content)
    digest = hashlib.sha256(content).hexdigest()
    if sha256 is not None and sha256 != digest:
        message = "The body does not match its digest. Send the part again."
        raise ApiError("invalid_field", message, param="Content-Digest")
    # The account first, as everywhere, so that two requests never wait for each other.
    account = _lock_account(address_list.account)
    _lock_list(address_list)
    existing = address_list.parts.filter(number=number).defer("content").first()
    if existing is not None and existing.sha256 == digest:
        return existing
    _require_state(address_list, State.UPLOADING)
    if existing is not None:
        message = f"Part {number} was uploaded with other bytes. Delete the list and start over."
        raise ApiError("part_conflict", message, details={"part": number})
    limits.check_bytes(account, len(content))
    _count_bytes(address_list, len(content))
    return ListPart.objects.create(
        list=address_list,
        number=number,
        sha256=digest,
        size=len(content),
        content=encrypt_bytes(content),
    )


@transaction.atomic
def begin_parsing(*, address_list: AddressList) -> None:
    """Hand a complete upload to the list processes. Does nothing if it's done already."""
    _lock_list(address_list)
    if address_list.state == State.PARSING:
        return
    _require_state(address_list, State.UPLOADING)
    numbers = list(address_list.parts.order_by("number").values_list("number", flat=True))
    if not numbers:
        raise _invalid_state(address_list, "Upload at least one part first.")
    missing = sorted({*range(1, numbers[-1])} - {*numbers})
    if missing:
        message = f"Part {missing[0]} is missing. Upload it first."
        raise _invalid_state(address_list, message, missing=missing[:100])
    change_state(address_list, State.PARSING)


def delete_list(*, address_list: AddressList, actor: Actor) -> None:
    """Make a list unreachable, release its credits, and erase its rows. No part of a transaction.

    If there are many rows, a list process erases the rest.
    """
    with transaction.atomic():
        _lock_list(address_list)
        _hide(address_list, actor)
    _erase(address_list)


def cancel_upload(*, address_list: AddressList, actor: Actor) -> bool:
    """Delete a list that waits for its parts. Return False if its file is complete: then it stays.

    No part of a transaction.
    """
    with transaction.atomic():
        _lock_list(address_list)
        if address_list.state != State.UPLOADING:
            return False
        _hide(address_list, actor)
    _erase(address_list)
    return True


def _hide(address_list: AddressList, actor: Actor) -> None:
    if address_list.state in HOLDING_CREDITS | {State.PARSING}:
        # Processes stop working on it.
        end_list(address_list, State.CANCELED)
    actor.record("list.deleted", _describe(address_list))
    storage.hide_list(address_list)


def _erase(address_list: AddressList) -> None:
    storage.erase_list(address_list, seconds=_ERASURE_SECONDS, facts_seconds=_FACTS_SECONDS)


def _lock_account(account: Account) -> Account:
    """Serialize an account's uploads, because they share limits. Charges don't wait for this."""
    return Account.objects.select_for_update(no_key=True).get(pk=account.pk)


def _lock_list(address_list: AddressList) -> None:
    """Lock the row until the transaction ends, and read its state. Raise if it was deleted."""
    address_list.refresh_from_db(from_queryset=AddressList.objects.select_for_update(of=("self",)))


def _require_state(address_list: AddressList, state: State) -> None:
    if address_list.state != state:
        message = f"The list is {address_list.state}, but must be {state} for this."
        raise _invalid_state(address_list, message)


def _invalid_state(address_list: AddressList, message: str, **details: object) -> ApiError:
    return ApiError("invalid_state", message, details={"state": address_list.state, **details})


def _check_part(number: int, content: bytes) -> None:
    if not 1 <= number <= MAX_PARTS:
        message = f"The number of a part must be from 1 to {MAX_PARTS:,}."
        raise ApiError("invalid_field", message, param="n")
    if not content:
        raise ApiError("invalid_field", "The part is empty. Send the bytes of the file.")
    if len(content) > MAX_PART_BYTES:
        raise ApiError("request_too_large", f"A part can have up to {MAX_PART_BYTES >> 20} MB.")


def _count_bytes(address_list: AddressList, size: int) -> None:
    AddressList.objects.filter(pk=address_list.pk).update(
        bytes=F("bytes") + size, updated_at=timezone.now()
    )
    ListUpload.objects.filter(list=address_list).update(bytes=F("bytes") + size)
    address_list.bytes += size


def _describe(address_list: AddressList) -> str:
    return f"{address_list.name} ({address_list.public_id})"


def _format_now() -> str:
    return f"{timezone.now():%Y-%m-%d %H:%M} UTC"
