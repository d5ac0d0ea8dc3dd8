"""What the days bring: Free is topped up, a paid plan is renewed or ends, a lower one begins.

A job of the day. Each account is one transaction, judged by the day it is: so it may run twice,
and a day that was missed is made up for.
"""

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from credits import services
from credits.models import LedgerEntry, Order, Subscription, Wallet
from credits.orders import lifecycle
from credits.periods import Period, midnight, period_of
from credits.plans import subscriptions
from credits.plans.coverage import RENEWED_BEFORE, month_from

logger = logging.getLogger(__name__)


class RenewalsFailed(Exception):
    """Names the accounts; the others are done."""


def renew_subscriptions() -> None:
    failed = []
    for subscription in Subscription.objects.to_look_after().select_related("account"):
        try:
            _renew(subscription.account)
        except Exception:
            logger.exception("The plan of %s was not looked after", subscription.account.public_id)
            failed.append(subscription.account.public_id)
    if failed:
        raise RenewalsFailed(", ".join(failed))


def cancel_old_orders() -> None:
    """Long after the day on which they were due. A renewal ends with its plan, an upgrade with the
    month it is for."""
    today = timezone.now().date()
    pending = Order.objects.pending().exclude(kind=Order.Kind.RENEWAL)
    old = pending.filter(due_on__lt=today - timedelta(days=60))
    late = pending.filter(kind=Order.Kind.UPGRADE, period_end__lte=today)
    (old | late).cancel()


@transaction.atomic
def _renew(account: Account) -> None:
    subscription = subscriptions.lock_subscription(account)
    if not subscription.account.is_open:
        return
    subscriptions.recompute_plan(subscription)
    _ask_to_renew(subscription)
    if subscription.plan.is_free and subscription.is_top_up_due:
        _top_up(subscription)


def _top_up(subscription: Subscription) -> None:
    """Up to the month's credits: who has more gets none, and months that were missed are one."""
    account, plan = subscription.account, subscription.plan
    period = period_of(timezone.now().date(), subscription.started_on)
    wallet = Wallet.objects.select_for_update().get(account=account)
    missing = plan.monthly_credits - wallet.balance
    if missing > 0 and subscription.is_topped_up and not _has_opening_credits(account, period):
        services.book(
            account=account,
            kind=LedgerEntry.Kind.PLAN,
            amount=missing,
            source=f"plan:{plan.code}:{account.public_id}:{period.start}",
            actor=None,
            reason=f"{plan} plan: topped up to {plan.monthly_credits:,}",
        )
    subscription.topped_up_until = period.end
    subscription.save(update_fields=["topped_up_until"])


def _has_opening_credits(account: Account, period: Period) -> bool:
    """Those of a new account are the credits of this month. It comes up again only after the clock
    was ahead."""
    signed_up = account.ledger.filter(
        kind=LedgerEntry.Kind.SIGNUP,
        at__gte=midnight(period.start),
        at__lt=midnight(period.end),
    )
    return period.start <= account.created_at.date() < period.end or signed_up.exists()


def _ask_to_renew(subscription: Subscription) -> None:
    """Writes the renewal of what is wanted for the time after what is covered, where none waits."""
    today, ends = timezone.now().date(), subscription.covered_until
    wanted = subscription.next_plan
    if ends is None or wanted.is_free or subscription.renews_itself:
        return
    if today < ends - RENEWED_BEFORE:
        return
    # After a long pause the month of today is paid for, and none that has passed.
    first = max(ends, period_of(today, subscription.started_on).start)
    month = month_from(first, subscription.started_on)
    waiting = subscription.account.orders.pending().filter(kind=Order.Kind.RENEWAL)
    if not waiting.filter(plan=wanted, period_start=month.start).exists():
        lifecycle.start_renewal(subscription=subscription, plan=wanted, month=month)
