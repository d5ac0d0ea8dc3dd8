from datetime import date, timedelta

from django.utils import timezone

from credits.models import Plan, Subscription
from credits.plans.coverage import Coverage


def upcoming_change(subscription: Subscription, coverage: Coverage) -> tuple[date, Plan] | None:
    today = timezone.now().date()
    paid_change = coverage.next_change(today)
    if paid_change:
        return paid_change
    end = coverage.covered_until(today)
    last = coverage.plan_on(end - timedelta(days=1)) if end > today else None
    return (end, subscription.next_plan) if last and last != subscription.next_plan else None


def next_grant(subscription: Subscription) -> tuple[int | None, date | None]:
    """Due credits count as today's."""
    plan, today = subscription.next_plan, timezone.now().date()
    if not plan.is_free:
        return plan.monthly_credits, max(subscription.covered_until or today, today)
    if not subscription.gets_top_ups:
        return None, None
    paid_until = subscription.covered_until if not subscription.plan.is_free else None
    return plan.monthly_credits, max(paid_until or subscription.topped_up_until, today)
