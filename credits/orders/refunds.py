"""Money that goes back takes its credits with it, and what is left of a plan."""

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User
from credits import emails, services
from credits.models import LedgerEntry, Order, Plan, Subscription
from credits.plans import subscriptions
from credits.plans.offers import OrderRefused

Kind, State = Order.Kind, Order.State


@transaction.atomic
def refund_order(
    *,
    order: Order,
    cents: int | None = None,
    actor: User | None = None,
    reason: str = "",
    ip: str | None = None,
    told_by_provider: bool = False,
) -> bool:
    """The credits of what was given back are taken: those that are left, the rest is debt.

    `cents` is all that was given back of it so far; without it, everything. A provider may tell of
    a refund before it tells of the payment, which then leaves nothing to grant.
    """
    subscription = subscriptions.lock_subscription(order.account)
    order.refresh_from_db()
    cents = order.total_cents if cents is None else min(cents, order.total_cents)
    if cents <= order.refunded_cents or not (order.is_paid or told_by_provider):
        return False
    if not told_by_provider:
        refuse_refund(order)
    was_paid, before = order.is_paid, order.refunded_cents
    order.refunded_cents = cents
    if cents == order.total_cents:
        order.state, order.refunded_at = State.REFUNDED, timezone.now()
    order.save()
    if was_paid:
        take_share(order, before, actor, reason)
    if order.state == State.REFUNDED:
        _end_refunded(order, subscription)
    words = f"{order}: {reason}" if reason else str(order)
    audit.record(order.account, actor, "order.refunded", words, ip)
    plan = subscription.plan if order.state == State.REFUNDED and order.plan else None
    emails.queue_refund(order=order, cents=cents - before, plan=plan)
    return True


def _end_refunded(order: Order, subscription: Subscription) -> None:
    """What the refund leaves of the plan is wanted from now on; an old month's changes nothing."""
    today = timezone.now().date()
    if order.kind != Kind.PACK and order.holds_on(today):
        left = subscriptions.coverage_of(order.account).plan_on(today)
        subscription.next_plan = left or Plan.objects.free()
        # What was to follow it, or to be built on it; another plan that was ordered waits on.
        following = order.account.orders.pending().filter(kind__in=(Kind.RENEWAL, Kind.UPGRADE))
        following.cancel()
    subscriptions.recompute_plan(subscription)


def refuse_refund(order: Order) -> None:
    """An upgrade that is paid would be worth nothing without the month it is built on."""
    if order.kind in (Kind.PACK, Kind.UPGRADE) or order.period_start is None:
        return
    built = order.account.orders.filter(
        kind=Kind.UPGRADE,
        state=State.PAID,
        period_start__lt=order.period_end,
        period_end__gt=max(order.period_start, timezone.now().date()),
    ).first()
    if built is not None:
        raise OrderRefused(f"Refund {built.number} first: that upgrade is built on this month.")


def take_share(order: Order, before: int, actor: User | None, reason: str) -> None:
    """As much of the credits as of the money."""
    total = order.total_cents
    share = order.credits * order.refunded_cents // total - order.credits * before // total
    if share:
        services.book(
            account=order.account,
            kind=LedgerEntry.Kind.REFUND,
            amount=share,
            source=f"refund:{order.public_id}:{order.refunded_cents}",
            actor=actor,
            reason=f"{order}. {reason}".strip(". "),
            order=order,
        )
