"""What comes next for an account: its next plan, and its next credits."""

from datetime import date, timedelta

from django.utils import timezone

from credits.models import Plan, Subscription
from credits.plans.coverage import Coverage


def upcoming_change(subscription: Subscription, coverage: Coverage) -> tuple[date, Plan] | None:
    """Return when the plan changes next, and to which plan, as far as known today."""
    today = timezone.now().date()
    paid_change = coverage.next_change(today)
    if paid_change:
        return paid_change
    end = coverage.covered_until(today)
    last = coverage.plan_on(end - timedelta(days=1)) if end > today else None
    return (end, subscription.next_plan) if last and last != subscription.next_plan else None


def next_grant(subscription: Subscription) -> tuple[int | None, date | None]:
    """Return the credits of the next month and the day it begins, or None for both.

    Credits that are already due count as today's.
    """
    plan, today = subscription.next_plan, timezone.now().date()
    if not plan.is_free:
        return plan.monthly_credits, max(subscription.covered_until or today, today)
    if not subscription.gets_top_ups:
        return None, None
    paid_until = subscription.covered_until if not subscription.plan.is_free else None
    return plan.monthly_credits, max(paid_until or subscription.topped_up_until, today)
