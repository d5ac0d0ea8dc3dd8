import hashlib
from collections.abc import Mapping
from dataclasses import asdict, fields

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import Account
from apikeys.actor import Actor
from apikeys.errors import ApiError
from lists.files.text_encoding import find_known_encoding
from lists.models import AddressList, ListPart, ListUpload
from lists.models.states import UNREAD, ListState
from lists.uploads import limits
from lists.uploads.options import DEFAULT_OPTIONS, MAX_NAME_LENGTH, ListOptions, clean_name
from runtime.encryption import encrypt_bytes

MAX_PART_BYTES = 8 << 20
MAX_PARTS = 10_000
# For a list that is uploaded as JSON.
MAX_EMAILS = 10_000


@transaction.atomic
def create_list(
    *,
    actor: Actor,
    options: ListOptions = DEFAULT_OPTIONS,
    file_name: str = "",
    file_size: int = 0,
    addresses: int = 0,
) -> AddressList:
    """Create an empty list. Pass the number of `addresses` if it's known before parsing."""
    options.check()
    account = _lock_account(actor.account)
    limits.check_new_list(account, addresses)
    if options.checks_mailboxes:
        limits.require_mailbox_lists(account)
    limits.check_bytes(account, file_size)
    now = f"{timezone.now():%Y-%m-%d %H:%M} UTC"
    name = options.name.strip() or clean_name(file_name) or f"List of {now}"
    values = asdict(options) | {
        "name": name[:MAX_NAME_LENGTH],
        "content_type": options.content_type[:100],
        "encoding": find_known_encoding(options.encoding),
    }
    address_list = AddressList.objects.create(
        account=account, key=actor.key, created_by=actor.name[:254], **values
    )
    ListUpload.objects.create(account=account, list=address_list, addresses=addresses)
    address_list.record(actor, "list.created")
    return address_list


@transaction.atomic
def upload_list(
    *,
    actor: Actor,
    content: bytes,
    options: ListOptions = DEFAULT_OPTIONS,
    file_name: str = "",
    addresses: int = 0,
) -> AddressList:
    """Create a list from a file of at most 8 MB, and begin parsing it."""
    address_list = create_list(
        actor=actor, options=options, file_name=file_name, addresses=addresses
    )
    store_part(address_list=address_list, number=1, content=content)
    begin_parsing(address_list=address_list)
    return address_list


@transaction.atomic
def rerun_list(
    *,
    address_list: AddressList,
    actor: Actor,
    name: str = "",
    metadata: Mapping[str, str] | None = None,
) -> AddressList:
    """Create a list with the rows and options of another one, and begin parsing it."""
    if address_list.state in UNREAD or not address_list.was_parsed:
        raise address_list.invalid_state("The list has no rows that can be read.")
    values = {field.name: getattr(address_list, field.name) for field in fields(ListOptions)}
    values |= {"name": name.strip() or address_list.name, "starts_when_ready": False}
    values["metadata"] = address_list.metadata if metadata is None else metadata
    size, addresses = address_list.bytes, address_list.addresses
    options = ListOptions(**values)
    rerun = create_list(actor=actor, options=options, file_size=size, addresses=addresses)
    rerun.rerun_of, rerun.bytes = address_list, size
    rerun.save(update_fields=["rerun_of", "bytes"])
    ListUpload.objects.filter(list=rerun).update(bytes=size)
    rerun.change_state(ListState.PARSING)
    return rerun


@transaction.atomic
def store_part(
    *, address_list: AddressList, number: int, content: bytes, sha256: str | None = None
) -> ListPart:
    """Store a part once. `sha256` is the customer's."""
    if not 1 <= number <= MAX_PARTS:
        message = f"number must be from 1 to {MAX_PARTS:,}. It is the end of the path."
        raise ApiError("invalid_field", message, param="number")
    if not content:
        message = "The part is empty. Send the bytes of the file as the body."
        raise ApiError("invalid_field", message)
    if len(content) > MAX_PART_BYTES:
        raise ApiError("request_too_large", f"A part can have up to {MAX_PART_BYTES >> 20} MB.")
    digest = hashlib.sha256(content).hexdigest()
    if sha256 is not None and sha256 != digest:
        message = "The body does not match its digest. Send the part again."
        raise ApiError("invalid_field", message, param="Content-Digest")
    # Lock the account first, to prevent deadlocks.
    account = _lock_account(address_list.account)
    _lock_list(address_list)
    existing = address_list.parts.filter(number=number).defer("content").first()
    if existing is not None and existing.sha256 == digest:
        return existing
    _require_uploading(address_list)
    if existing is not None:
        message = f"Part {number} was uploaded with other bytes. Delete the list and start over."
        raise ApiError("part_conflict", message, details={"part": number})
    limits.check_bytes(account, len(content))
    added = F("bytes") + len(content)
    AddressList.objects.filter(pk=address_list.pk).update(bytes=added, updated_at=timezone.now())
    ListUpload.objects.filter(list=address_list).update(bytes=added)
    address_list.bytes += len(content)
    return ListPart.objects.create(
        list=address_list,
        number=number,
        sha256=digest,
        size=len(content),
        content=encrypt_bytes(content),
    )


@transaction.atomic
def begin_parsing(*, address_list: AddressList) -> None:
    """Hand a complete upload to the list processes. Repeating it does nothing."""
    _lock_list(address_list)
    if address_list.state == ListState.PARSING:
        return
    _require_uploading(address_list)
    numbers = list(address_list.parts.order_by("number").values_list("number", flat=True))
    if not numbers:
        raise address_list.invalid_state("Upload at least one part first.")
    missing = sorted({*range(1, numbers[-1])} - {*numbers})
    if missing:
        message = f"Part {missing[0]} is missing. Upload it first."
        raise address_list.invalid_state(message, missing=missing[:100])
    address_list.change_state(ListState.PARSING)


def _lock_account(account: Account) -> Account:
    """Serialize uploads, which share limits. Charges don't wait."""
    return Account.objects.select_for_update(no_key=True).get(pk=account.pk)


def _lock_list(address_list: AddressList) -> None:
    address_list.refresh_from_db(from_queryset=AddressList.objects.select_for_update())


def _require_uploading(address_list: AddressList) -> None:
    if address_list.state != ListState.UPLOADING:
        message = f"The list is {address_list.state}, but must be uploading for this."
        raise address_list.invalid_state(message)
