from datetime import timedelta

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Account
from credits.models.catalog import Pack
from credits.models.orders import Order
from runtime.database.leased_rows import CLOCK_TOLERANCE, LeasedQuerySet, LeasedRow, is_past

MIN_THRESHOLD = 10
# The minimum time between two orders of an account, paid or not.
INTERVAL = timedelta(minutes=10)
NEEDS_CREDITS = Q(
    is_on=True,
    account__closed_at=None,
    account__suspended_at=None,
    account__wallet__balance__lt=F("threshold"),
)
_IS_ACTIVE = Q(is_on=True) | Q(open_order__isnull=False)


class AutomaticTopUpQuerySet(LeasedQuerySet["AutomaticTopUp"]):
    def due(self) -> "AutomaticTopUpQuerySet":
        """The first condition matches the partial index."""
        is_time = is_past("next_attempt_at", timezone.now(), INTERVAL + CLOCK_TOLERANCE)
        active = self.filter(_IS_ACTIVE).filter(is_time)
        due = active.filter(Q(open_order__isnull=False) | _needs_order())
        return due.order_by("next_attempt_at", "pk")

    def needing_order(self) -> "AutomaticTopUpQuerySet":
        return self.filter(_needs_order())


class AutomaticTopUp(LeasedRow):
    LEASE = timedelta(minutes=2)

    class Pause(models.TextChoices):
        NO_CARD = "no_card", "No saved card"
        PACK_GONE = "pack_gone", "The pack is no longer offered"
        CURRENCY = "currency", "The currency has changed"
        PRICE = "price", "The pack costs more than the monthly cap"
        CAP = "cap", "The monthly cap is reached"

    class Off(models.TextChoices):
        MEMBER = "member", "Switched off by a member"
        FAILURES = "failures", "Two payments in a row failed"
        REFUND = "refund", "An order was refunded"
        DISPUTE = "dispute", "A payment was disputed"
        CLOSED = "closed", "The account was closed"

    account = models.OneToOneField(
        Account, on_delete=models.CASCADE, related_name="automatic_top_up"
    )
    is_on = models.BooleanField("on", default=False)
    threshold = models.PositiveIntegerField(validators=[MinValueValidator(MIN_THRESHOLD)])
    pack = models.ForeignKey(Pack, on_delete=models.PROTECT, related_name="+")
    # Per calendar month (UTC), tax included.
    cap_cents = models.PositiveBigIntegerField()
    currency = models.CharField(max_length=3)
    paused_for = models.CharField(max_length=10, choices=Pause, blank=True)
    off_for = models.CharField(max_length=10, choices=Off, blank=True)
    off_at = models.DateTimeField(null=True)
    # Failed payments in a row.
    failures = models.PositiveSmallIntegerField(default=0)
    last_order_at = models.DateTimeField(null=True)
    # The order that is being paid, at most one per account.
    open_order = models.OneToOneField(
        Order, null=True, on_delete=models.PROTECT, related_name="paying_top_up"
    )
    next_attempt_at = models.DateTimeField(default=timezone.now)

    objects = AutomaticTopUpQuerySet.as_manager()

    class Meta:
        verbose_name = "automatic top-up"
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=_IS_ACTIVE, name="active_automatic_top_up"
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(threshold__gte=MIN_THRESHOLD), name="top_up_threshold_has_a_minimum"
            ),
            models.CheckConstraint(condition=Q(cap_cents__gt=0), name="top_up_has_a_cap"),
            models.CheckConstraint(
                condition=Q(is_on=True, off_for="") | Q(is_on=False), name="top_up_is_on_or_off"
            ),
        ]

    def __str__(self) -> str:
        state = "On" if self.is_on else "Off"
        return f"{state}: {self.pack} below {self.threshold:,}"


class AutomaticOrder(models.Model):
    class Outcome(models.TextChoices):
        OPEN = "", "In progress"
        PAID = "paid", "Paid"
        FAILED = "failed", "Failed"
        ABANDONED = "abandoned", "Given up before payment"

    order = models.OneToOneField(
        Order, primary_key=True, on_delete=models.PROTECT, related_name="automatic"
    )
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    failure = models.CharField(max_length=50, blank=True)
    provider_card = models.CharField(max_length=100, editable=False)
    provider_intent = models.CharField(max_length=100, blank=True, editable=False)

    def __str__(self) -> str:
        return f"{self.order}: {self.get_outcome_display()}"


def _needs_order() -> Q:
    long_ago = is_past("last_order_at", timezone.now() - INTERVAL, INTERVAL + CLOCK_TOLERANCE)
    return NEEDS_CREDITS & Q(open_order=None) & (long_ago | Q(last_order_at=None))
