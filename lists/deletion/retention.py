from django.db.models import Exists, Min, OuterRef, Q
from django.utils import timezone

from accounts.audit.models import ERASED
from accounts.models import Account
from lists.deletion.batch_delete import (
    MAX_UPLOAD_TIME,
    delete_content,
    delete_orphans,
    erase_list,
    hide_list,
    hide_lists,
    sweep_once,
)
from lists.models import AddressList, ErasedAddress, ListAddress, ListChunk, ListPart, ListUpload
from lists.models.states import READABLE, ListState
from runtime.database.batches import delete_in_batches

# These have no rows unless a deletion was interrupted. Others keep paid results.
_IS_EMPTY = Q(state=ListState.EXPIRED) | Q(state=ListState.FAILED, started_at=None)


def delete_unfinished_uploads() -> None:
    old = timezone.now() - MAX_UPLOAD_TIME
    for address_list in AddressList.objects.filter(state=ListState.UPLOADING, created_at__lte=old):
        # False if the customer has just completed the upload.
        if address_list.change_state(ListState.EXPIRED):
            hide_list(address_list)
            erase_list(address_list)
    delete_in_batches(ListUpload.objects.old())


def expire_lists() -> None:
    for address_list in AddressList.objects.filter(expires_at__lte=timezone.now()):
        address_list.change_state(ListState.EXPIRED, typos={})
    has_content = Q()
    for table in (ListChunk, ListPart, ListAddress):
        has_content |= Q(Exists(table._default_manager.filter(list=OuterRef("pk"))))
    for address_list in AddressList.objects.filter(_IS_EMPTY).filter(has_content):
        delete_content(address_list)
    oldest = AddressList.objects.filter(state__in=READABLE).aggregate(at=Min("created_at"))["at"]
    ErasedAddress.objects.obsolete(oldest).delete()
    delete_orphans()
    while sweep_once():
        pass


def delete_lists(*, account: Account) -> None:
    """Hide an erased account's lists, to delete the rows later. A hook."""
    hide_lists(AddressList.objects.filter(account=account))
    ListUpload.objects.filter(account=account).delete()


def erase_creator(*, email: str) -> None:
    """Erase an erased user's address from other accounts' lists. A hook."""
    AddressList._base_manager.filter(created_by=email).update(created_by=ERASED)
