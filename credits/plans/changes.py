"""Change plans: customers for later, staff immediately."""

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits.models import Order, OrderKind, OrderMethod, OrderState, Plan, Subscription
from credits.plans.periods import Period, period_containing
from credits.plans.subscriptions import lock_subscription, recompute_plan, update_limits
from runtime.http.refusals import Refused


@transaction.atomic
def schedule_plan(*, account: Account, plan: Plan, actor: User) -> Subscription:
    subscription = lock_subscription(account)
    if plan.price_cents > subscription.plan.price_cents:
        raise Refused(f"{plan} costs more than {subscription.plan}. Order it as an upgrade.")
    subscription.next_plan = plan
    subscription.save(update_fields=["next_plan"])
    # The daily job places a renewal for this plan.
    account.orders.pending().filter(kind=OrderKind.RENEWAL).exclude(plan=plan).cancel()
    recompute_plan(subscription)
    audit.record(account, actor, "plan.chosen", f"{plan} after {subscription.covered_until}")
    return subscription


@transaction.atomic
def assign_plan(*, account: Account, plan: Plan, reason: str, actor: User) -> Subscription:
    """Assign a plan for a month, without credits. Paid months end today."""
    subscription = lock_subscription(account)
    previous, today = subscription.plan, timezone.now().date()
    if previous == plan:
        raise Refused(f"{account} is already on {plan}.")
    account.orders.pending().for_plans().cancel()
    paid = account.orders.filter(state=OrderState.PAID, period_end__gt=today)
    paid.filter(period_start__gt=today).update(period_start=today)
    paid.update(period_end=today)
    subscription.started_on, subscription.next_plan = today, plan
    if not plan.is_free:
        _create_gift_order(account, plan, period_containing(today, today))
    recompute_plan(subscription)
    audit.record(account, actor, "plan.given_by_staff", f"{previous} → {plan}: {reason}")
    return subscription


def _create_gift_order(account: Account, plan: Plan, month: Period) -> None:
    now = timezone.now()
    Order.objects.create(
        account=account,
        kind=OrderKind.GIFT,
        state=OrderState.PAID,
        method=OrderMethod.NONE,
        plan=plan,
        description=f"{plan} plan, assigned by our staff",
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


def apply_plan_changes(plan: Plan) -> int:
    """Update the plan's accounts, each in a short transaction. Return their number."""
    accounts = Account.objects.filter(subscription__plan=plan).order_by("pk")
    for account in accounts:
        with transaction.atomic():
            lock_subscription(account)
            update_limits(account)
    return len(accounts)
