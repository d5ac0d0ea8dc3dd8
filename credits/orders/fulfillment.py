from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User
from credits import emails, services
from credits.event_types import ORDER_PAID, record_order
from credits.models import EntryKind, LedgerEntry, Order, OrderKind, OrderState, Subscription
from credits.orders import refunds
from credits.plans import subscriptions


@transaction.atomic
def fulfill_order(*, order: Order, actor: User | None = None, **provider_ids: str) -> bool:
    """Mark an order paid and grant what it is for. Return False if that was done before.

    Canceled orders are fulfilled too: their money has arrived. `provider_ids`: fields of the order.
    """
    subscription = subscriptions.lock_subscription(order.account)
    order.refresh_from_db()
    if order.state in (OrderState.PAID, OrderState.REFUNDED):
        return False
    if order.kind in (OrderKind.PLAN, OrderKind.RENEWAL):
        month = subscriptions.assign_paid_month(subscription)
        order.period_start, order.period_end = month.start, month.end
    order.state, order.paid_at = OrderState.PAID, timezone.now()
    order.assign_invoice_number()
    for name, value in provider_ids.items():
        setattr(order, name, value)
    order.save()
    order.draw_invoice()
    _grant_credits(order, actor)
    if order.refunded_cents:
        # The provider reported a partial refund first.
        refunds.deduct_share(order, 0, None, "")
    _update_plan(order, subscription)
    audit.record(order.account, actor, "order.paid", str(order))
    record_order(ORDER_PAID, order, cents=order.total_cents, credits=order.credits)
    emails.queue_receipt(order=order)
    return True


def _grant_credits(order: Order, actor: User | None) -> None:
    if not order.credits:
        return
    kind, source = EntryKind.PURCHASE, f"order:{order.public_id}"
    if order.plan is not None and order.kind in (OrderKind.PLAN, OrderKind.RENEWAL):
        kind = EntryKind.PLAN
        period_source = f"plan:{order.plan.code}:{order.account.public_id}:{order.period_start}"
        # Exists if the month was refunded and is bought again.
        if not LedgerEntry.objects.filter(source=period_source).exists():
            source = period_source
    services.post_entry(
        account=order.account,
        kind=kind,
        amount=order.credits,
        source=source,
        actor=actor,
        reason=str(order),
        order=order,
    )


def _update_plan(order: Order, subscription: Subscription) -> None:
    """A renewal changes the next plan only if the paid one has ended."""
    today = timezone.now().date()
    is_upgrade = order.kind == OrderKind.UPGRADE and order.ends_after(today)
    is_new_plan = order.kind == OrderKind.PLAN or is_upgrade
    is_back = subscription.next_plan.is_free and order.period_start == today
    if order.plan is not None and (is_new_plan or is_back):
        subscription.next_plan = order.plan
    if is_new_plan:
        order.account.orders.pending().filter(kind=OrderKind.RENEWAL).cancel()
    subscriptions.recompute_plan(subscription)
