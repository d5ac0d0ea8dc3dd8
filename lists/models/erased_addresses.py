from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account
from lists.models.lists import AddressList

MIN_AGE = timedelta(days=1)


class ErasedAddressQuerySet(models.QuerySet["ErasedAddress"]):
    def digests_for(self, address_list: AddressList) -> set[str]:
        accounts = Q(account=None) | Q(account=address_list.account_id)
        # Copied rows may be older than the list.
        since = (address_list.rerun_of or address_list).created_at
        erased = self.filter(accounts, at__gte=since)
        return {digest.hex for digest in erased.values_list("digest", flat=True)}

    def obsolete(self, oldest_list: datetime | None) -> "ErasedAddressQuerySet":
        """Return rows older than a day and all lists that may be parsed."""
        before = timezone.now() - MIN_AGE
        return self.filter(at__lt=min(before, oldest_list) if oldest_list else before)


class ErasedAddress(models.Model):
    """An address to erase from earlier uploads when they are parsed."""

    # Null for all accounts.
    account = models.ForeignKey(Account, null=True, on_delete=models.CASCADE, related_name="+")
    digest = models.UUIDField()
    at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = ErasedAddressQuerySet.as_manager()

    def __str__(self) -> str:
        return f"Erased at {self.at:%Y-%m-%d %H:%M}"
