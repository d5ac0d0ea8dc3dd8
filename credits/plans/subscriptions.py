from datetime import date

from django.db.models import Max
from django.utils import timezone

from accounts.events import record_event
from accounts.models import Account, User
from credits import emails
from credits.event_types import PLAN_CHANGED
from credits.models import OrderKind, OrderState, Plan, ProviderCancellation, Subscription, Wallet
from credits.plans.coverage import Coverage, PaidMonth, PlanStatus, grace_period_end, plan_status
from credits.plans.periods import Period, month_starting, period_containing


def create_wallet_and_subscription(*, account: Account) -> None:
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
    subscription = lock_subscription(account)
    account.orders.pending().cancel()
    cancel_at_provider(subscription)


def lock_subscription(account: Account) -> Subscription:
    """Lock the account for a change of plan or orders. Charges don't wait for it."""
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    return Subscription.objects.with_plans().get(account=account)


def update_limits(account: Account) -> None:
    """Set the rate limit to the highest of plan and paid packs."""
    plan = Subscription.objects.select_related("plan").get(account=account).plan
    paid = account.orders.filter(state=OrderState.PAID, kind=OrderKind.PACK)
    pack_limit = paid.aggregate(highest=Max("requests_per_minute"))["highest"] or 0
    limit = max(plan.requests_per_minute, pack_limit)
    Account.objects.filter(pk=account.pk).update(requests_per_minute=limit)
    Wallet.objects.filter(account=account).update(usual_threshold=plan.usual_threshold)


def load_coverage(account: Account) -> Coverage:
    paid = account.orders.filter(state=OrderState.PAID, period_end__isnull=False).select_related(
        "plan"
    )
    months = [
        PaidMonth(
            order.plan,
            order.period_start,
            order.period_end,
            is_upgrade=order.kind == OrderKind.UPGRADE,
            net_cents=order.net_cents,
            credits=order.credits,
        )
        for order in paid
        if order.plan and order.period_start and order.period_end
    ]
    return Coverage(months)


def current_status(subscription: Subscription, coverage: Coverage | None = None) -> PlanStatus:
    """Callers that have loaded the coverage pass it."""
    today, coverage = timezone.now().date(), coverage or load_coverage(subscription.account)
    notified_on = _notified_on(subscription, coverage.ended_on(today), today)
    return plan_status(
        coverage, next_plan=subscription.next_plan, day=today, notified_on=notified_on
    )


def renewal_due_date(subscription: Subscription, start: date) -> date:
    """Return when the plan ends if the month from `start` isn't paid."""
    return grace_period_end(start, _notified_on(subscription, start, timezone.now().date()))


def _notified_on(subscription: Subscription, ended_on: date | None, today: date) -> date:
    """Return the first renewal's day: replacing it must not extend the deadline."""
    if ended_on is None or subscription.renews_automatically:
        return date.min
    renewals = subscription.account.orders.filter(
        kind=OrderKind.RENEWAL, period_start__gte=ended_on
    )
    first = renewals.order_by("placed_at").first()
    return first.placed_at.date() if first else today


def recompute_plan(subscription: Subscription) -> PlanStatus:
    """End the plan if it was not paid for. The caller has locked the account."""
    status, previous = current_status(subscription), subscription.plan
    subscription.plan = status.plan or Plan.objects.free()
    subscription.covered_until = status.covered_until
    was_not_paid = status.plan is None and not subscription.next_plan.is_free
    if was_not_paid:
        subscription.next_plan = subscription.plan
        subscription.account.orders.pending().for_plans().cancel()
    if status.plan is None:
        cancel_at_provider(subscription)
    subscription.save()
    update_limits(subscription.account)
    if subscription.plan != previous:
        data = {"from": previous.code, "to": subscription.plan.code}
        record_event(subscription.account, PLAN_CHANGED, data)
    if was_not_paid and not previous.is_free:
        emails.queue_plan_ended(account=subscription.account, plan=previous)
    return status


def assign_paid_month(subscription: Subscription) -> Period:
    """Return the month that a payment is for, from the end of the coverage.

    Without a paid plan it begins today, the subscription's new first day. The caller saves it.
    """
    today, status = timezone.now().date(), current_status(subscription)
    if status.plan is not None and status.covered_until is not None:
        return month_starting(status.covered_until, subscription.started_on)
    subscription.started_on = today
    return period_containing(today, today)


def cancel_at_provider(subscription: Subscription) -> None:
    """`sync_with_provider` sends the cancellation."""
    provider_id = subscription.provider_subscription
    if provider_id:
        ProviderCancellation.objects.get_or_create(
            provider_subscription=provider_id, defaults={"account": subscription.account}
        )
        subscription.provider_subscription = subscription.provider_plan = ""
        subscription.save(update_fields=["provider_subscription", "provider_plan"])
