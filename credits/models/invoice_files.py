from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from runtime.database.leased_rows import CLOCK_TOLERANCE, LeasedQuerySet, LeasedRow, is_past

RETRY_AFTER = timedelta(hours=1)


class InvoiceFileQuerySet(LeasedQuerySet["InvoiceFile"]):
    def due(self) -> "InvoiceFileQuerySet":
        is_time = is_past("next_attempt_at", timezone.now(), RETRY_AFTER + CLOCK_TOLERANCE)
        return self.filter(is_time, content=None).order_by("next_attempt_at", "pk")

    def discard(self) -> None:
        """A worker that is drawing a file loses its lease."""
        self.update(content=None, leased_until=None, next_attempt_at=timezone.now())


class InvoiceFile(LeasedRow):
    """The file stays with its order, which has the same data."""

    LEASE = timedelta(minutes=2)

    order = models.OneToOneField(
        "credits.Order", on_delete=models.CASCADE, related_name="invoice_file"
    )
    content = models.BinaryField(null=True)
    next_attempt_at = models.DateTimeField(default=timezone.now)

    objects = InvoiceFileQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=Q(content=None), name="invoice_file_to_draw"
            )
        ]

    def __str__(self) -> str:
        return f"PDF of {self.order}"
