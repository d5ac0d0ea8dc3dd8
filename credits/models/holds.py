"""Credits held for work that is charged step by step.

`wallet.held` is the sum of the open holds.
"""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey


class HoldQuerySet(models.QuerySet["Hold"]):
    def open(self) -> "HoldQuerySet":
        return self.filter(ended_at=None)

    def cancel_newest(self, account: Account, amount: int) -> int:
        """Return what the canceled holds free. The caller has locked the wallet."""
        freed = 0
        for hold in self.open().filter(account=account, remaining__gt=0).order_by("-pk"):
            if freed >= amount:
                break
            freed += hold.end(is_canceled=True)
        return freed


class Hold(models.Model):
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="holds")
    # Null for the dashboard.
    key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # Idempotency key: the same work holds credits once.
    source = models.CharField(max_length=200, unique=True)
    reason = models.CharField(max_length=300)
    amount = models.PositiveBigIntegerField()
    charged = models.PositiveBigIntegerField(default=0)
    remaining = models.PositiveBigIntegerField()
    held_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    is_canceled = models.BooleanField("canceled", default=False)

    objects = HoldQuerySet.as_manager()

    class Meta:
        ordering = ["-held_at", "-pk"]
        indexes = [models.Index(fields=["account"], condition=Q(ended_at=None), name="open_hold")]
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gt=0, charged__gte=0, remaining__gte=0),
                name="hold_is_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=F("charged") + F("remaining")),
                name="hold_gives_no_more_than_it_took",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, is_canceled=False)
                | Q(ended_at__isnull=False, remaining=0),
                name="ended_hold_holds_nothing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.remaining:,} of {self.amount:,} credits held: {self.reason}"

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    def charge(self, cost: int) -> None:
        """The caller has locked the wallet, and lowers its `held`."""
        self.charged += cost
        self.remaining -= cost
        self.save(update_fields=["charged", "remaining"])

    def end(self, *, is_canceled: bool) -> int:
        """Return what the hold still held. The caller has locked the wallet."""
        freed, self.remaining = self.remaining, 0
        self.ended_at, self.is_canceled = timezone.now(), is_canceled
        self.save(update_fields=["remaining", "ended_at", "is_canceled"])
        return freed
