from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.date_display import date_format
from accounts.models import Account
from credits.models.catalog import FREE, Plan

MAX_MONTH = timedelta(days=31)


class SubscriptionQuerySet(models.QuerySet["Subscription"]):
    def with_plans(self) -> "SubscriptionQuerySet":
        return self.select_related("account", "plan", "next_plan")

    def needing_renewal_check(self) -> "SubscriptionQuerySet":
        today = timezone.now().date()
        topped_up = Q(topped_up_until__gt=today, topped_up_until__lte=today + MAX_MONTH)
        only_free = Q(plan__code=FREE, next_plan__code=FREE) & topped_up
        paid_ahead = Q(account__orders__state="paid", account__orders__period_end__gt=today)
        return self.filter(~only_free | paid_ahead, account__closed_at=None).distinct()

    def count_by_paid_plan(self) -> list[tuple[Plan, int]]:
        paid = self.filter(account__closed_at=None).exclude(plan__code=FREE)
        counts = dict(paid.values_list("plan").annotate(accounts=models.Count("pk")).order_by())
        plans = Plan.objects.filter(pk__in=counts).order_by("-price_cents", "pk")
        return [(plan, counts[plan.pk]) for plan in plans]


class Subscription(models.Model):
    """Only `recompute_plan` writes `plan` and `covered_until`."""

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="subscription"
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    # Renewals are for this plan.
    next_plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    # Periods begin on this day of the month.
    started_on = models.DateField()
    # Exclusive. Null if nothing was ever paid.
    covered_until = models.DateField(null=True)
    topped_up_until = models.DateField()
    # Once per mailbox. `gets_top_ups` adds accounts with a purchase.
    gets_free_credits = models.BooleanField(default=False)
    # Whether its domain received too many within 30 days.
    domain_had_free_credits = models.BooleanField(default=False, db_default=False)

    provider_customer = models.CharField(max_length=100, blank=True, editable=False)
    provider_subscription = models.CharField(
        max_length=100, blank=True, editable=False, db_index=True
    )
    provider_plan = models.CharField(max_length=30, blank=True, editable=False)
    provider_cents = models.PositiveIntegerField(default=0, editable=False)

    objects = SubscriptionQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.plan} since {date_format(self.started_on)}"

    @property
    def renews_automatically(self) -> bool:
        return bool(self.provider_subscription)

    @property
    def gets_top_ups(self) -> bool:
        if self.gets_free_credits:
            return True
        # Not through `self.account`, which would cost a query.
        paid = Subscription.objects.filter(pk=self.pk, account__orders__state="paid")
        return paid.exists()


class ProviderCancellation(models.Model):
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    provider_subscription = models.CharField(max_length=100, unique=True)

    def __str__(self) -> str:
        return self.provider_subscription


class SignUpPlace(models.Model):
    """Records that an account at a domain received sign-up credits, naming neither."""

    # HMAC of the registrable domain, keyed with ADDRESS_HASH_KEY.
    domain_digest = models.CharField(max_length=64)
    slot = models.PositiveIntegerField()
    taken_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["domain_digest", "slot"], name="sign_up_place_is_one")
        ]

    def __str__(self) -> str:
        return f"Place {self.slot} since {self.taken_at}"
