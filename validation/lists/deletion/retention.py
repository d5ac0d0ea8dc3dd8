"""Delete what lists no longer need: old uploads, expired results, and lists of erased accounts."""

from datetime import timedelta

from django.db.models import Exists, Min, OuterRef, Q
from django.utils import timezone

from accounts.audit.models import ERASED
from accounts.models import Account
from runtime.database.batches import delete_in_batches
from validation.lists.deletion import storage
from validation.lists.transitions import change_state
from validation.models import (
    AddressList,
    ErasedAddress,
    ListAddress,
    ListChunk,
    ListPart,
    ListUpload,
)
from validation.models.list_states import READABLE, State

MAX_UPLOAD_TIME = timedelta(hours=24)
# Their rows were deleted, unless the process that did so was killed. A list that failed after its
# start has results that were paid for.
_IS_EMPTY = Q(state=State.EXPIRED) | Q(state=State.FAILED, started_at=None)


def delete_unfinished_uploads() -> None:
    """Delete lists whose file wasn't uploaded completely within a day. A daily job."""
    old = timezone.now() - MAX_UPLOAD_TIME
    for address_list in AddressList.objects.filter(state=State.UPLOADING, created_at__lte=old):
        # False if the customer has just begun parsing it.
        if change_state(address_list, State.EXPIRED):
            storage.hide_list(address_list)
            storage.erase_list(address_list)
    delete_in_batches(ListUpload.objects.old())


def expire_lists() -> None:
    """Delete the rows and results of lists whose retention has ended. A daily job."""
    for address_list in AddressList.objects.filter(expires_at__lte=timezone.now()):
        change_state(address_list, State.EXPIRED)
    for address_list in AddressList.objects.filter(_IS_EMPTY).filter(_has_content()):
        storage.delete_content(address_list)
    _forget_erased_addresses()
    storage.delete_orphans()
    # List processes do this as well.
    while storage.sweep_once():
        pass


def _forget_erased_addresses() -> None:
    """Delete the digests of erased addresses that no list can bring back by being parsed."""
    oldest = AddressList.objects.filter(state__in=READABLE).aggregate(at=Min("created_at"))["at"]
    ErasedAddress.objects.obsolete(oldest).delete()


def _has_content() -> Q:
    this_list = OuterRef("pk")
    return (
        Q(Exists(ListChunk.objects.filter(list=this_list)))
        | Q(Exists(ListPart.objects.filter(list=this_list)))
        | Q(Exists(ListAddress.objects.filter(list=this_list)))
    )


def delete_lists(*, account: Account) -> None:
    """Delete the lists of an erased account, of which others erase the rows. A hook.

    It runs in a transaction: pauses while rows are erased would make charges wait on SQLite.
    """
    storage.hide_lists(AddressList.objects.filter(account=account))
    ListUpload.objects.filter(account=account).delete()


def erase_creator(*, email: str) -> None:
    """Erase the address of an erased user from the lists of other accounts. A hook."""
    AddressList._base_manager.filter(created_by=email).update(created_by=ERASED)
