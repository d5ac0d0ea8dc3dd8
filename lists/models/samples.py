from datetime import timedelta

from django.db import models
from django.utils import timezone

from accounts.models import Account
from lists.models.lists import AddressList, VerdictCounts

SAMPLE_WINDOW = timedelta(hours=24)


class ListSampleQuerySet(models.QuerySet["ListSample"]):
    def recent(self) -> "ListSampleQuerySet":
        return self.filter(at__gt=timezone.now() - SAMPLE_WINDOW)

    def obsolete(self) -> "ListSampleQuerySet":
        """Return the samples of deleted lists that no longer count."""
        return self.filter(list=None, at__lte=timezone.now() - SAMPLE_WINDOW)


class ListSample(VerdictCounts):
    """Counts a free sample. It outlives its list, for the daily limit."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    list = models.OneToOneField(
        AddressList, null=True, on_delete=models.SET_NULL, related_name="sample"
    )
    at = models.DateTimeField(default=timezone.now)
    # False while the addresses are being checked.
    is_done = models.BooleanField(default=False)

    objects = ListSampleQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["account", "at"], name="list_sample_by_account")]

    def __str__(self) -> str:
        return f"Sample of {self.list_id}"

    @property
    def size(self) -> int:
        return sum(self.verdict_counts.values())
