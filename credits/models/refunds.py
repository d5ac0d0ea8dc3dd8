"""Refunds of orders. `Order.refunded_cents` is their sum."""

from collections.abc import Iterator
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from credits.models.orders import Order

# More don't fit on the invoice's page.
MAX_LISTED = 8


class Refund(models.Model):
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="refunds")
    cents = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(cents__gt=0), name="refund_returns_money")
        ]

    def __str__(self) -> str:
        return f"{self.cents} cents of {self.order}"


def list_refunds(order: Order) -> Iterator[tuple[datetime | None, int]]:
    """Yield the latest refunds' time and cents, after the sum of all others."""
    latest = list(order.refunds.all())[-MAX_LISTED:]
    earlier = order.refunded_cents - sum(refund.cents for refund in latest)
    if earlier:
        yield None, earlier
    for refund in latest:
        yield refund.at, refund.cents
