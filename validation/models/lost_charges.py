from django.db import models
from django.utils import timezone

from accounts.models import Account


class LostCharge(models.Model):
    """Records a charge whose COMMIT was interrupted by a lost database connection."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    result_id = models.CharField(max_length=30, unique=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.result_id
