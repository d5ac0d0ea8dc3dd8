"""Manage the plan of an account, and what depends on it: rate limit and low-balance threshold."""

from datetime import date, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits import emails
from credits.models import Order, Plan, ProviderCancellation, Subscription, Wallet
from credits.periods import Period, period_containing
from credits.plans.coverage import (
    GRACE_PERIOD,
    Coverage,
    PaidMonth,
    PlanStatus,
    month_starting,
    plan_status,
)

Kind, State = Order.Kind, Order.State


class PlanRefused(Exception):
    """Raised if a plan change isn't allowed. The text is shown to the user."""


def create_wallet_and_subscription(*, account: Account, user: User) -> None:
    """Set up a new account with an empty wallet and the Free plan. A hook."""
    free, today = Plan.objects.free(), timezone.now().date()
    Wallet.objects.create(account=account, usual_threshold=free.usual_threshold)
    Subscription.objects.create(
        account=account,
        plan=free,
        next_plan=free,
        started_on=today,
        topped_up_until=period_containing(today, today).end,
    )
    update_limits(account)


def cancel_billing(*, account: Account, actor: User) -> None:
    """Cancel the pending orders and the renewal of a closed account. A hook."""
    subscription = lock_subscription(account)
    account.orders.pending().cancel()
    cancel_at_provider(subscription)


def lock_subscription(account: Account) -> Subscription:
    """Lock the account's row, so that changes of its plan and orders serialize.

    Charges lock the wallet only, and don't wait for this.
    """
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    return Subscription.objects.with_plans().get(account=account)


def update_limits(account: Account) -> None:
    """Set the rate limit and the low-balance threshold of an account.

    The rate limit is the highest of its plan and of the packs that are paid for.
    """
    plan = Subscription.objects.select_related("plan").get(account=account).plan
    paid = account.orders.filter(state=State.PAID, kind=Kind.PACK)
    pack_limit = paid.aggregate(highest=Max("requests_per_minute"))["highest"] or 0
    limit = max(plan.requests_per_minute, pack_limit)
    Account.objects.filter(pk=account.pk).update(requests_per_minute=limit)
    Wallet.objects.filter(account=account).update(usual_threshold=plan.usual_threshold)


def apply_plan_changes(plan: Plan) -> int:
    """Update the limits of all accounts on a plan that staff changed. Return their number.

    Each account is a separate transaction, so that no lock is held for long.
    """
    accounts = Account.objects.filter(subscription__plan=plan).order_by("pk")
    for account in accounts:
        with transaction.atomic():
            lock_subscription(account)
            update_limits(account)
    return len(accounts)


def load_coverage(account: Account) -> Coverage:
    paid = account.orders.filter(state=State.PAID, period_end__isnull=False).select_related("plan")
    return Coverage.from_months(
        PaidMonth(order.plan, order.period_start, order.period_end, order.kind == Kind.UPGRADE)
        for order in paid
        if order.plan and order.period_start and order.period_end
    )


def current_status(subscription: Subscription, coverage: Coverage | None = None) -> PlanStatus:
    """Return today's plan status. Callers that have loaded the coverage pass it."""
    today, coverage = timezone.now().date(), coverage or load_coverage(subscription.account)
    notified_on = _notified_on(subscription, coverage.ended_on(today), today)
    return plan_status(
        coverage, next_plan=subscription.next_plan, day=today, notified_on=notified_on
    )


def _notified_on(subscription: Subscription, ended_on: date | None, today: date) -> date:
    """Return when the first renewal order was placed: replacing it must not extend the deadline."""
    if ended_on is None or subscription.renews_automatically:
        return date.min
    renewals = subscription.account.orders.filter(kind=Kind.RENEWAL, period_start__gte=ended_on)
    first = renewals.order_by("placed_at").first()
    return first.placed_at.date() if first else today


def recompute_plan(subscription: Subscription) -> PlanStatus:
    """Derive and store the current plan, and end a plan that was not paid for.

    Runs after every change that can affect the plan, and daily. The caller has locked the account.
    """
    status, previous = current_status(subscription), subscription.plan
    subscription.plan = status.plan or Plan.objects.free()
    subscription.covered_until = status.covered_until
    was_not_paid = status.plan is None and not subscription.next_plan.is_free
    if was_not_paid:
        subscription.next_plan = subscription.plan
        cancel_pending_plan_orders(subscription.account)
    if status.plan is None:
        cancel_at_provider(subscription)
    subscription.save()
    update_limits(subscription.account)
    if was_not_paid and not previous.is_free:
        emails.queue_plan_ended(account=subscription.account, plan=previous)
    return status


def assign_paid_month(subscription: Subscription) -> Period:
    """Return the month that a plan order pays for, which is decided when it is paid.

    It begins when the coverage ends, also within the grace period. Without a paid plan it begins
    today, which becomes the first day of the subscription; the caller saves it.
    """
    today, status = timezone.now().date(), current_status(subscription)
    if status.plan is not None and status.covered_until is not None:
        return month_starting(status.covered_until, subscription.started_on)
    subscription.started_on = today
    return period_containing(today, today)


def renewal_due_date(subscription: Subscription, start: date) -> date:
    """Return the day on which the plan ends unless the month starting on `start` is paid."""
    today = timezone.now().date()
    return max(start, _notified_on(subscription, start, today)) + GRACE_PERIOD


@transaction.atomic
def schedule_plan(
    *, account: Account, plan: Plan, actor: User, ip: str | None = None
) -> Subscription:
    """Switch to a plan that costs no more than the current one when the paid months end."""
    subscription = lock_subscription(account)
    if plan.price_cents > subscription.plan.price_cents:
        raise PlanRefused(f"{plan} is not lower than your plan {subscription.plan}: order it.")
    subscription.next_plan = plan
    subscription.save(update_fields=["next_plan"])
    # Cancels a renewal of another plan. The daily job places one for this plan.
    account.orders.pending().filter(kind=Kind.RENEWAL).exclude(plan=plan).cancel()
    recompute_plan(subscription)
    audit.record(account, actor, "plan.chosen", f"{plan} after {subscription.covered_until}", ip)
    return subscription


@transaction.atomic
def assign_plan(
    *, account: Account, plan: Plan, reason: str, actor: User, ip: str | None = None
) -> Subscription:
    """Switch to a plan immediately, for one month and without credits, on behalf of staff.

    Ends the months that are paid for. Staff grant credits separately.
    """
    subscription = lock_subscription(account)
    previous, today = subscription.plan, timezone.now().date()
    if previous == plan:
        raise PlanRefused(f"{account} has the plan {plan} already.")
    cancel_pending_plan_orders(account)
    paid = account.orders.filter(state=State.PAID, period_end__gt=today)
    paid.filter(period_start__gt=today).update(period_start=today)
    paid.update(period_end=today)
    subscription.started_on, subscription.next_plan = today, plan
    if not plan.is_free:
        _create_gift_order(account, plan, period_containing(today, today), actor)
    recompute_plan(subscription)
    audit.record(account, actor, "plan.given_by_staff", f"{previous} → {plan}: {reason}", ip)
    return subscription


def _create_gift_order(account: Account, plan: Plan, month: Period, actor: User) -> None:
    now = timezone.now()
    Order.objects.create(
        account=account,
        kind=Kind.GIFT,
        state=State.PAID,
        method=Order.Method.NONE,
        plan=plan,
        description=f"{plan} plan, given by our staff",
        credits=0,
        net_cents=0,
        tax_cents=0,
        tax_rate=0,
        currency=settings.CURRENCY,
        buyer_name=account.name,
        placed_by="our staff",
        due_on=now.date(),
        paid_at=now,
        period_start=month.start,
        period_end=month.end,
    )


def cancel_pending_plan_orders(account: Account) -> None:
    """Cancel unpaid plan orders. Orders for packs stay pending."""
    account.orders.pending().for_plans().cancel()


def cancel_at_provider(subscription: Subscription) -> None:
    """Record that the provider has to stop renewing the plan.

    `sync_with_provider` sends the cancellation, after the commit or in the daily job.
    """
    provider_id = subscription.provider_subscription
    if provider_id:
        ProviderCancellation.objects.get_or_create(
            provider_subscription=provider_id, defaults={"account": subscription.account}
        )
        subscription.provider_subscription = subscription.provider_plan = ""
        subscription.save(update_fields=["provider_subscription", "provider_plan"])


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
