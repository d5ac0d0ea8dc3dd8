"""The jobs depend only on state and date: missed days don't matter."""

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from credits.models import Order, OrderKind, Subscription
from credits.orders import placement
from credits.plans import subscriptions
from credits.plans.periods import month_to_renew
from credits.plans.top_ups import top_up_if_due

logger = logging.getLogger(__name__)


class RenewalsFailed(Exception):
    """Raised after all other accounts were renewed."""


def renew_subscriptions() -> None:
    failed = []
    for subscription in Subscription.objects.needing_renewal_check().select_related("account"):
        try:
            _renew(subscription.account)
        except Exception:
            logger.exception("Failed to renew the plan of %s", subscription.account.public_id)
            failed.append(subscription.account.public_id)
    if failed:
        raise RenewalsFailed(", ".join(failed))


def cancel_old_orders() -> None:
    """Cancel orders 60 days after their due date, and upgrades once their period is over.

    Renewals end with their plan.
    """
    today = timezone.now().date()
    pending = Order.objects.pending().exclude(kind=OrderKind.RENEWAL)
    old = pending.filter(due_on__lt=today - timedelta(days=60))
    obsolete = pending.filter(kind=OrderKind.UPGRADE, period_end__lte=today)
    (old | obsolete).cancel()


@transaction.atomic
def _renew(account: Account) -> None:
    subscription = subscriptions.lock_subscription(account)
    if not subscription.account.is_open:
        return
    subscriptions.recompute_plan(subscription)
    _place_renewal(subscription)
    top_up_if_due(subscription)


def _place_renewal(subscription: Subscription) -> None:
    plan, covered_until = subscription.next_plan, subscription.covered_until
    if covered_until is None or plan.is_free or subscription.renews_automatically:
        return
    month = month_to_renew(
        covered_until=covered_until, started_on=subscription.started_on, day=timezone.now().date()
    )
    if month is None:
        return
    pending = subscription.account.orders.pending().filter(kind=OrderKind.RENEWAL)
    if not pending.filter(plan=plan, period_start=month.start).exists():
        placement.place_renewal(subscription=subscription, plan=plan, month=month)
