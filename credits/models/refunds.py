"""Refunds of an order, one row each. `Order.refunded_cents` is their sum."""

from collections.abc import Iterator
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from credits.models.orders import Order

# An invoice with this many fits on a page. All earlier ones are one sum.
MAX_LISTED = 8


class Refund(models.Model):
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="refunds")
    cents = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(cents__gt=0), name="refund_returns_money"),
        ]

    def __str__(self) -> str:
        return f"{self.cents} cents of {self.order}"


def list_refunds(order: Order) -> Iterator[tuple[datetime | None, int]]:
    """Yield the time and the cents of the latest refunds, after the sum of all earlier ones.

    The sum has no time. It includes refunds from before each had a row.
    """
    latest = list(order.refunds.all())[-MAX_LISTED:]
    earlier = order.refunded_cents - sum(refund.cents for refund in latest)
    if earlier:
        yield None, earlier
    for refund in latest:
        yield refund.at, refund.cents
