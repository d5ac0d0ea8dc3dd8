"""Rows outlive their lists, or deletion would reset the limits."""

from django.db import models
from django.utils import timezone

from accounts.models import Account
from apikeys.daily_limits import DailyQuerySet
from lists.models.lists import AddressList, VerdictCounts


class ListUpload(models.Model):
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="list_uploads")
    list = models.OneToOneField(
        AddressList, null=True, on_delete=models.SET_NULL, related_name="upload"
    )
    at = models.DateTimeField(default=timezone.now)
    bytes = models.PositiveBigIntegerField(default=0)
    # Distinct addresses. 0 until the list is parsed.
    addresses = models.PositiveIntegerField(default=0)

    objects = DailyQuerySet["ListUpload"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["account", "at"], name="list_upload_by_account")]

    def __str__(self) -> str:
        return f"{self.bytes:,} bytes, {self.addresses:,} addresses"


class ListSample(VerdictCounts):
    """Counts a free sample."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    list = models.OneToOneField(
        AddressList, null=True, on_delete=models.SET_NULL, related_name="sample"
    )
    at = models.DateTimeField(default=timezone.now)
    # False while the addresses are being checked.
    is_done = models.BooleanField(default=False)

    objects = DailyQuerySet["ListSample"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["account", "at"], name="list_sample_by_account")]

    def __str__(self) -> str:
        return f"Sample of {self.list_id}"

    @property
    def size(self) -> int:
        return sum(self.verdict_counts.values())
