"""Rows outlive their lists, or deletion would reset the limits."""

from datetime import timedelta

from django.db import models
from django.utils import timezone

from accounts.models import Account
from lists.models.lists import AddressList

UPLOAD_WINDOW = timedelta(hours=24)


class ListUploadQuerySet(models.QuerySet["ListUpload"]):
    def recent(self) -> "ListUploadQuerySet":
        return self.filter(at__gt=timezone.now() - UPLOAD_WINDOW)

    def old(self) -> "ListUploadQuerySet":
        return self.filter(at__lte=timezone.now() - UPLOAD_WINDOW)


class ListUpload(models.Model):
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="list_uploads")
    list = models.OneToOneField(
        AddressList, null=True, on_delete=models.SET_NULL, related_name="upload"
    )
    at = models.DateTimeField(default=timezone.now)
    bytes = models.PositiveBigIntegerField(default=0)
    # Distinct addresses. 0 until the list is parsed.
    addresses = models.PositiveIntegerField(default=0)

    objects = ListUploadQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["account", "at"], name="list_upload_by_account")]

    def __str__(self) -> str:
        return f"{self.bytes:,} bytes, {self.addresses:,} addresses"
