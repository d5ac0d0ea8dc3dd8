from datetime import datetime, timedelta

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone

from accounts.names import validate_name
from accounts.roles import Role
from runtime.ids import random_id


def account_id() -> str:
    return random_id("acc")


class AccountQuerySet(models.QuerySet["Account"]):
    def open(self) -> "AccountQuerySet":
        return self.filter(closed_at=None)

    def lock_if_open(self, account: "Account") -> bool:
        """Return False if the account is closed.

        Callers that count rows against a limit lock it first.
        """
        return self.open().select_for_update(no_key=True).filter(pk=account.pk).first() is not None

    def first_owned_by(self, email: str) -> "Account | None":
        """Return the open account that the user has owned the longest."""
        owned = self.open().filter(
            memberships__user__email=email.lower(), memberships__role=Role.OWNER
        )
        return owned.order_by("memberships__joined_at", "pk").first()

    def due_for_erasure(self) -> "AccountQuerySet":
        before = timezone.now() - timedelta(days=settings.CLOSED_ACCOUNT_DAYS)
        return self.filter(closed_at__lt=before, erased_at=None)


class Account(models.Model):
    public_id = models.CharField(
        "ID", max_length=30, unique=True, editable=False, default=account_id
    )
    name = models.CharField(max_length=100, validators=[validate_name])
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Set by `credits`. Staff may override it.
    requests_per_minute = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1)], editable=False
    )
    requests_per_minute_override = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    # Retention of the request log. Null: the maximum. 0: nothing is logged.
    log_days = models.PositiveSmallIntegerField(null=True, editable=False)
    # Older entries stay hidden when the retention is raised.
    log_since = models.DateTimeField(null=True, editable=False)
    # Random, for each version of the account's domains. Null: none.
    domains_version = models.BigIntegerField(null=True, editable=False)
    second_factor_required_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = AccountQuerySet.as_manager()

    class Meta:
        permissions = [("suspend_account", "Can suspend, lift and reopen accounts")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(requests_per_minute__gte=1), name="account_rate_is_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(requests_per_minute_override__isnull=True)
                | models.Q(requests_per_minute_override__gte=1),
                name="account_rate_override_is_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def state(self) -> str:
        if self.closed_at:
            return "Erased" if self.erased_at else "Closed"
        return "Suspended" if self.suspended_at else "Open"

    @property
    def requires_second_factor(self) -> bool:
        return self.second_factor_required_at is not None

    @property
    def request_limit(self) -> int:
        return self.requests_per_minute_override or self.requests_per_minute

    @property
    def log_retention_days(self) -> int:
        max_days: int = settings.LOG_RETENTION_DAYS
        return max_days if self.log_days is None else min(self.log_days, max_days)

    @property
    def log_starts_at(self) -> datetime:
        """Older entries are deleted daily."""
        retention_start = timezone.now() - timedelta(days=self.log_retention_days)
        return max(retention_start, self.log_since) if self.log_since else retention_start

    @property
    def erased_after(self) -> datetime | None:
        return self.closed_at and self.closed_at + timedelta(days=settings.CLOSED_ACCOUNT_DAYS)
