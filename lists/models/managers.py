from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils import timezone

from lists.models.states import UNFINISHED, ListState
from runtime.database.leased_rows import LeasedQuerySet

if TYPE_CHECKING:
    from lists.models.lists import AddressList

STUCK_AFTER = timedelta(minutes=10)


class AddressListQuerySet(LeasedQuerySet["AddressList"]):
    def due(self) -> "AddressListQuerySet":
        """Return one list to parse per account, so large files delay only their owner."""
        parsing = self.filter(state=ListState.PARSING)
        served = parsing.leased().values("account")
        waiting = parsing.of_active_accounts().exclude(account__in=served)
        return waiting.order_by("updated_at", "pk")

    def of_active_accounts(self) -> "AddressListQuerySet":
        return self.filter(account__closed_at=None, account__suspended_at=None)

    def lock(self, address_list: "AddressList") -> "AddressList":
        """Return the locked row. Lock it before the wallet."""
        return self.select_for_update().get(pk=address_list.pk)

    def stuck(self) -> "AddressListQuerySet":
        """Return the lists on which no process has worked for too long."""
        now = timezone.now()
        before = now - STUCK_AFTER
        is_unserved = Q(served_at=None, started_at__lt=before) | Q(served_at__lt=before)
        # While mail servers are asked, only this moment moves.
        is_unserved &= Q(collect_at=None) | Q(collect_at__lt=before)
        # None: the recheck has begun.
        is_due = Q(recheck_at=None) | Q(recheck_at__lt=before)
        is_unleased = Q(leased_until=None) | Q(leased_until__lt=now)
        return self.of_active_accounts().filter(
            (Q(state__in=(ListState.QUEUED, ListState.RUNNING)) & is_unserved)
            | (Q(state=ListState.PARSING, updated_at__lt=before) & is_unleased)
            | (Q(state=ListState.RECHECKING) & is_due & is_unserved)
        )

    def unfinished(self) -> "AddressListQuerySet":
        return self.filter(state__in=UNFINISHED)


class DeletedListQuerySet(LeasedQuerySet["AddressList"]):
    def due(self) -> "DeletedListQuerySet":
        return self.order_by("deleted_at", "pk")


_ListManager = models.Manager.from_queryset(AddressListQuerySet)
_DeletedListManager = models.Manager.from_queryset(DeletedListQuerySet)


class ListManager(_ListManager["AddressList"]):
    def get_queryset(self) -> AddressListQuerySet:
        return AddressListQuerySet(self.model, using=self._db).filter(deleted_at=None)


class DeletedListManager(_DeletedListManager["AddressList"]):
    def get_queryset(self) -> DeletedListQuerySet:
        return DeletedListQuerySet(self.model, using=self._db).exclude(deleted_at=None)
