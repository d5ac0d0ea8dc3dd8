"""The ledger has the grants that took effect."""

from datetime import timedelta

from django.db import models
from django.db.models import F, Q, Sum
from django.utils import timezone

from accounts.models import Account, User

LIMIT_PERIOD = timedelta(hours=24)


class GrantState(models.TextChoices):
    WITHIN_LIMIT = "within_limit", "Within limit"
    PENDING = "pending", "Pending"
    CONFIRMED = "confirmed", "Confirmed"
    REJECTED = "rejected", "Rejected"
    WITHDRAWN = "withdrawn", "Withdrawn"


class StaffGrantQuerySet(models.QuerySet["StaffGrant"]):
    def pending(self) -> "StaffGrantQuerySet":
        return self.filter(state=GrantState.PENDING)

    def granted_alone(self, user: User) -> int:
        """Return what the user granted in 24 hours without a second person."""
        since = timezone.now() - LIMIT_PERIOD
        alone = self.filter(
            requested_by=user, requested_at__gt=since, state=GrantState.WITHIN_LIMIT
        )
        return alone.aggregate(total=Sum("amount"))["total"] or 0


class StaffGrant(models.Model):
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="staff_grants")
    amount = models.PositiveBigIntegerField()
    reason = models.CharField(max_length=300)
    # One form posts one ledger entry.
    form_token = models.CharField(max_length=32, editable=False)
    state = models.CharField(max_length=12, choices=GrantState)
    # Null if the user was erased. The audit log has the name.
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField(default=timezone.now)
    decided_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True)

    objects = StaffGrantQuerySet.as_manager()

    class Meta:
        ordering = ["-requested_at", "-pk"]
        indexes = [
            models.Index(fields=["requested_by", "requested_at"], name="staff_grant_by_person")
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "form_token"], name="one_staff_grant_for_a_form"
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="staff_grant_is_positive"),
            models.CheckConstraint(
                condition=Q(state__in=("within_limit", "pending"), decided_at=None, decided_by=None)
                | Q(state__in=("confirmed", "rejected", "withdrawn"), decided_at__isnull=False),
                name="staff_grant_state_is_known",
            ),
            # Passes if either user was erased.
            models.CheckConstraint(
                condition=Q(state="withdrawn") | ~Q(decided_by=F("requested_by")),
                name="staff_grant_is_decided_by_another",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount:,} credits for {self.account}"

    @property
    def is_pending(self) -> bool:
        return self.state == GrantState.PENDING
