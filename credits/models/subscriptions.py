from datetime import date
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account
from credits.models.catalogue import Plan
from credits.periods import Period, period_of


class SubscriptionQuerySet(models.QuerySet["Subscription"]):
    def of_open_accounts(self) -> "SubscriptionQuerySet":
        return self.filter(account__closed_at=None).select_related("account", "plan", "next_plan")


class Subscription(models.Model):
    """Which plan an account has. One row an account, made when it is opened."""

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="subscription"
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    # Periods begin on this day of the month.
    started_on = models.DateField()
    # The end of the last period whose credits were granted: the first day that is not covered.
    covered_until = models.DateField()
    # A downgrade waits here for the end of what is paid.
    next_plan = models.ForeignKey(
        Plan, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    next_plan_on = models.DateField(null=True, blank=True)
    # The Free plan's credits come once a mailbox, like the sign-up credits.
    gets_free_credits = models.BooleanField(default=False)
    # What the payment provider calls them, where one renews the plan by itself.
    provider_customer = models.CharField(max_length=100, blank=True, editable=False)
    provider_subscription = models.CharField(
        max_length=100, blank=True, editable=False, db_index=True
    )
    # The plan it charges there, as far as we have told it.
    provider_plan = models.CharField(max_length=30, blank=True, editable=False)

    objects: ClassVar[SubscriptionQuerySet] = SubscriptionQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(next_plan=None, next_plan_on=None)
                | Q(next_plan__isnull=False, next_plan_on__isnull=False),
                name="next_plan_has_a_day",
            )
        ]

    def __str__(self) -> str:
        return f"{self.plan} since {self.started_on}"

    @property
    def renews_itself(self) -> bool:
        """At the payment provider's, which tells us when it was paid."""
        return bool(self.provider_subscription)

    @property
    def period(self) -> Period:
        """The one of today."""
        return period_of(timezone.now().date(), self.started_on)

    @property
    def following_plan(self) -> Plan:
        """The plan after the end of what is covered."""
        return self.next_plan or self.plan

    @property
    def next_grant(self) -> int | None:
        """What the following period brings; None where nothing will come."""
        plan = self.following_plan
        return None if plan.is_free and not self.gets_free_credits else plan.monthly_credits

    def is_due(self, day: date) -> bool:
        return day >= self.covered_until
