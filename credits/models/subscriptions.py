from datetime import timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account
from credits.models.catalogue import FREE, Plan
from credits.periods import Period, period_of

# From no day does a month end later than this.
LONGEST_MONTH = timedelta(days=31)


class SubscriptionQuerySet(models.QuerySet["Subscription"]):
    def with_plans(self) -> "SubscriptionQuerySet":
        return self.select_related("account", "plan", "next_plan")

    def to_look_after(self) -> "SubscriptionQuerySet":
        """Those for whom a day may bring something: a top-up, a renewal, another plan, an end."""
        today = timezone.now().date()
        topped_up = Q(topped_up_until__gt=today, topped_up_until__lte=today + LONGEST_MONTH)
        only_free = Q(plan__code=FREE, next_plan__code=FREE) & topped_up
        paid_ahead = Q(account__orders__state="paid", account__orders__period_end__gt=today)
        return self.filter(~only_free | paid_ahead, account__closed_at=None).distinct()

    def by_paid_plan(self) -> Any:
        """A line a plan that costs something: how many open accounts have it."""
        paid = self.filter(plan__in=Plan.objects.exclude(code=FREE), account__closed_at=None)
        lines: Any = paid.values("plan", "plan__name", "plan__price_cents")
        return lines.annotate(accounts=models.Count("pk")).order_by("-plan__price_cents", "plan")


class Subscription(models.Model):
    """Which plan an account has. One row an account, made when it is opened.

    `plan` and `covered_until` follow from the paid orders: `plans.settle` writes them.
    """

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="subscription"
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    # What the customer wants after what is paid for: renewals are written for it.
    next_plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    # Periods begin on this day of the month.
    started_on = models.DateField()
    # The first day that is not paid for; null where nothing ever was.
    covered_until = models.DateField(null=True)
    # The end of the Free plan's month that was topped up last.
    topped_up_until = models.DateField()
    # They come once a mailbox, like the sign-up credits, and to whoever buys something.
    gets_free_credits = models.BooleanField(default=False)
    # Why it does not: too many accounts at its domain received them in 30 days.
    domain_had_free_credits = models.BooleanField(default=False, db_default=False)

    # What the payment provider calls them, where one renews the plan by itself, and what it was
    # told to charge for it.
    provider_customer = models.CharField(max_length=100, blank=True, editable=False)
    provider_subscription = models.CharField(
        max_length=100, blank=True, editable=False, db_index=True
    )
    provider_plan = models.CharField(max_length=30, blank=True, editable=False)
    provider_cents = models.PositiveIntegerField(default=0, editable=False)

    objects: ClassVar[SubscriptionQuerySet] = SubscriptionQuerySet.as_manager()  # type: ignore[assignment]

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
    def is_top_up_due(self) -> bool:
        """Whether the Free plan's month is over, or was written while the clock was ahead."""
        today = timezone.now().date()
        return not today < self.topped_up_until <= today + LONGEST_MONTH

    @property
    def is_topped_up(self) -> bool:
        """Whether the Free plan's credits come to this account."""
        paid = self.account.orders.filter(state="paid")
        return self.gets_free_credits or paid.exists()


class ProviderCancellation(models.Model):
    """A subscription at the payment provider's that must end there. The row goes when it has."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    provider_subscription = models.CharField(max_length=100, unique=True)

    def __str__(self) -> str:
        return self.provider_subscription
