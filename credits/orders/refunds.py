from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User
from credits import emails, services
from credits.event_types import ORDER_REFUNDED, record_order
from credits.models import EntryKind, Order, OrderKind, OrderState, Plan, Refund, Subscription
from credits.plans import subscriptions
from credits.plans.offers import OrderRefused


@transaction.atomic
def refund_part(*, order: Order, cents: int, actor: User, reason: str) -> bool:
    """Return False if a second submission or the provider's event recorded the refund before."""
    seen, total = order.refunded_cents, order.refunded_cents + cents
    subscriptions.lock_subscription(order.account)
    recorded = Order.objects.values_list("refunded_cents", flat=True).get(pk=order.pk)
    if recorded not in (seen, total):
        raise OrderRefused(
            f"Another refund of {order.number} was recorded. Check the order, then try again."
        )
    return refund_order(order=order, cents=total, actor=actor, reason=reason)


@transaction.atomic
def refund_order(
    *,
    order: Order,
    cents: int | None = None,
    actor: User | None = None,
    reason: str = "",
    reported_by_provider: bool = False,
) -> bool:
    """`cents` is the total refunded so far, by default all.

    If the provider reports the refund before the payment, `fulfill_order` grants the rest.
    """
    subscription = subscriptions.lock_subscription(order.account)
    order.refresh_from_db()
    cents = order.total_cents if cents is None else min(cents, order.total_cents)
    if cents <= order.refunded_cents or not (order.is_paid or reported_by_provider):
        return False
    if not reported_by_provider:
        require_refundable(order)
    was_paid, refunded_before = order.is_paid, order.refunded_cents
    order.refunded_cents = cents
    if cents == order.total_cents:
        order.state, order.refunded_at = OrderState.REFUNDED, timezone.now()
    order.save()
    Refund.objects.create(order=order, cents=cents - refunded_before)
    order.draw_invoice()
    deducted = deduct_share(order, refunded_before, actor, reason) if was_paid else 0
    if order.state == OrderState.REFUNDED:
        _end_refunded_plan(order, subscription)
    target = f"{order}: {reason}" if reason else str(order)
    audit.record(order.account, actor, "order.refunded", target)
    record_order(ORDER_REFUNDED, order, cents=cents - refunded_before, credits=deducted)
    plan = subscription.plan if order.state == OrderState.REFUNDED and order.plan else None
    emails.queue_refund(order=order, cents=cents - refunded_before, credits=deducted, plan=plan)
    return True


def _end_refunded_plan(order: Order, subscription: Subscription) -> None:
    today = timezone.now().date()
    if order.kind != OrderKind.PACK and order.ends_after(today):
        remaining = subscriptions.load_coverage(order.account).plan_on(today)
        subscription.next_plan = remaining or Plan.objects.free()
        # Renewals and upgrades continue the plan. An order for another plan stays pending.
        dependent = order.account.orders.pending().filter(
            kind__in=(OrderKind.RENEWAL, OrderKind.UPGRADE)
        )
        dependent.cancel()
    subscriptions.recompute_plan(subscription)


def require_refundable(order: Order) -> None:
    """Refuse if a paid upgrade depends on the order's month."""
    if order.kind in (OrderKind.PACK, OrderKind.UPGRADE) or order.period_start is None:
        return
    upgrade = order.account.orders.filter(
        kind=OrderKind.UPGRADE,
        state=OrderState.PAID,
        period_start__lt=order.period_end,
        period_end__gt=max(order.period_start, timezone.now().date()),
    ).first()
    if upgrade is not None:
        raise OrderRefused(f"Refund {upgrade.number} first, which upgrades this month.")


def share_of_credits(order: Order, refunded_before: int, refunded_cents: int) -> int:
    """Partial refunds add up to a full one."""
    total = order.total_cents
    return order.credits * refunded_cents // total - order.credits * refunded_before // total


def deduct_share(order: Order, refunded_before: int, actor: User | None, reason: str) -> int:
    share = share_of_credits(order, refunded_before, order.refunded_cents)
    if share:
        services.post_entry(
            account=order.account,
            kind=EntryKind.REFUND,
            amount=share,
            source=f"refund:{order.public_id}:{order.refunded_cents}",
            actor=actor,
            reason=f"{order}. {reason}".strip(". "),
            order=order,
        )
    return share
