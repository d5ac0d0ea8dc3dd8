"""Samples of lists: what a free check of random addresses found."""

from datetime import timedelta

from django.db import models
from django.utils import timezone

from accounts.models import Account
from validation.models.lists import AddressList

SAMPLE_WINDOW = timedelta(hours=24)


class ListSampleQuerySet(models.QuerySet["ListSample"]):
    def recent(self) -> "ListSampleQuerySet":
        return self.filter(at__gt=timezone.now() - SAMPLE_WINDOW)

    def obsolete(self) -> "ListSampleQuerySet":
        """Return the samples of deleted lists that no longer count."""
        return self.filter(list=None, at__lte=timezone.now() - SAMPLE_WINDOW)


class ListSample(models.Model):
    """Has only counts. It outlives its list, so that deleting lists doesn't reset the limit."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    list = models.OneToOneField(
        AddressList, null=True, on_delete=models.SET_NULL, related_name="sample"
    )
    at = models.DateTimeField(default=timezone.now)
    deliverable = models.PositiveSmallIntegerField(default=0)
    risky = models.PositiveSmallIntegerField(default=0)
    undeliverable = models.PositiveSmallIntegerField(default=0)
    unknown = models.PositiveSmallIntegerField(default=0)
    # False while the addresses are being checked.
    is_done = models.BooleanField(default=False)

    objects = ListSampleQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["account", "at"], name="list_sample_by_account")]

    def __str__(self) -> str:
        return f"Sample of {self.list_id}"

    @property
    def size(self) -> int:
        return self.deliverable + self.risky + self.undeliverable + self.unknown
