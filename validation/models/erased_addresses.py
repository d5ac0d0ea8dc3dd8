"""Addresses that were erased, for lists whose rows are parsed later."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account
from validation.models.lists import AddressList

MIN_AGE = timedelta(days=1)


class ErasedAddressQuerySet(models.QuerySet["ErasedAddress"]):
    def digests_for(self, address_list: AddressList) -> set[str]:
        """Return the digests of the addresses that the list's rows must not have."""
        accounts = Q(account=None) | Q(account=address_list.account_id)
        erased = self.filter(accounts, at__gte=address_list.created_at)
        return {digest.hex for digest in erased.values_list("digest", flat=True)}

    def obsolete(self, oldest_list: datetime | None) -> "ErasedAddressQuerySet":
        """Return the rows for which no list is old enough, except for the newest."""
        before = timezone.now() - MIN_AGE
        return self.filter(at__lt=min(before, oldest_list) if oldest_list else before)


class ErasedAddress(models.Model):
    """An address whose rows in earlier uploads are emptied when they are parsed.

    The address is in a file of any format, or of another column, so it can't be searched before.
    """

    # Null: all accounts.
    account = models.ForeignKey(Account, null=True, on_delete=models.CASCADE, related_name="+")
    # The keyed hash of the address, in the 16 bytes of a UUID.
    digest = models.UUIDField()
    at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = ErasedAddressQuerySet.as_manager()

    def __str__(self) -> str:
        return f"Erased at {self.at:%Y-%m-%d %H:%M}"
