from django.db import models
from django.utils import timezone


class StoredDataRelease(models.Model):
    """The newest release of the domain data, in the only row."""

    created_at = models.DateTimeField()
    stored_at = models.DateTimeField(default=timezone.now)
    archive = models.BinaryField()

    class Meta:
        verbose_name = "domain data"
        verbose_name_plural = "domain data"

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d}"
