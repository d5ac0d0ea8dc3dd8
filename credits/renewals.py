"""What the days bring: a lower plan begins, Free is topped up, a paid plan is renewed or ends.

A job of the day. Each account is one transaction, judged by the day it is: so it may run twice,
and a day that was missed is made up for.
"""

from datetime import date, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from credits import emails, orders, plans, services
from credits.models import LedgerEntry, Order, Plan, Subscription, Wallet
from credits.periods import Period, period_of

RENEWED_BEFORE = timedelta(days=7)
ENDS_AFTER = timedelta(days=7)


def renew_subscriptions() -> None:
    today = timezone.now().date()
    near = Q(covered_until__lte=today + RENEWED_BEFORE) | Q(next_plan_on__lte=today)
    for subscription in Subscription.objects.of_open_accounts().filter(near):
        _renew(subscription, today)


def cancel_old_orders() -> None:
    """Long after the day on which they were due. A renewal ends with its plan."""
    before = timezone.now().date() - timedelta(days=60)
    old = Order.objects.pending().exclude(kind=Order.Kind.RENEWAL).filter(due_on__lt=before)
    old.update(state=Order.State.CANCELLED, cancelled_at=timezone.now())


@transaction.atomic
def _renew(listed: Subscription, today: date) -> None:
    subscription = plans.locked(listed.account)
    plans.turn_over(subscription, today)
    if not subscription.plan.is_free:
        _renew_paid(subscription, today)
    # Also what has just become Free.
    if subscription.plan.is_free and subscription.is_due(today):
        _top_up(subscription, today)


def _top_up(subscription: Subscription, today: date) -> None:
    """Up to the month's credits: who has more gets none, and months that were missed are one."""
    account, plan = subscription.account, subscription.plan
    period = period_of(today, subscription.started_on)
    wallet = Wallet.objects.select_for_update().get(account=account)
    missing = plan.monthly_credits - wallet.balance
    if subscription.gets_free_credits and missing > 0:
        services.book(
            account=account,
            kind=LedgerEntry.Kind.PLAN,
            amount=missing,
            source=f"plan:{plan.code}:{account.public_id}:{period.start}",
            actor=None,
            reason=f"{plan} plan: topped up to {plan.monthly_credits:,}",
        )
    subscription.covered_until = period.end
    subscription.save(update_fields=["covered_until"])


def _renew_paid(subscription: Subscription, today: date) -> None:
    waiting = subscription.account.orders.pending().filter(kind=Order.Kind.RENEWAL).first()
    if (
        waiting is None
        and not subscription.renews_itself
        and not subscription.following_plan.is_free
    ):
        period = _next_period(subscription, today)
        # Whoever is told late has a week all the same.
        due_on = max(period.start, today) + ENDS_AFTER
        waiting = orders.start_renewal(
            account=subscription.account,
            plan=subscription.following_plan,
            period=period,
            due_on=due_on,
        )
    ends_on = waiting.due_on if waiting else subscription.covered_until + ENDS_AFTER
    if subscription.is_due(today) and today >= ends_on:
        _end(subscription)


def _next_period(subscription: Subscription, today: date) -> Period:
    """The one that follows what is covered; after a long pause, the one of today."""
    first = max(subscription.covered_until, period_of(today, subscription.started_on).start)
    return period_of(first, subscription.started_on)


def _end(subscription: Subscription) -> None:
    """It was not paid: the plan becomes Free, the credits stay."""
    ended = subscription.plan
    plans.cancel_waiting(subscription.account)
    plans.have(subscription, Plan.objects.free())
    emails.queue_plan_ended(account=subscription.account, plan=ended)
