"""Top up the Free plan, renew or end paid plans, and begin scheduled ones. A daily job.

Each account is one transaction that depends only on its state and the current date. So the job can
run twice, and the next run makes up for a missed day.
"""

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from credits import services
from credits.models import LedgerEntry, Order, Subscription, Wallet
from credits.orders import lifecycle
from credits.periods import Period, period_containing
from credits.plans import subscriptions
from credits.plans.coverage import RENEWAL_LEAD_TIME, month_starting
from runtime.dates import midnight

logger = logging.getLogger(__name__)


class RenewalsFailed(Exception):
    """Raised with the ids of the accounts that failed, after all others were renewed."""


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

    Renewals are cancelled when their plan ends.
    """
    today = timezone.now().date()
    pending = Order.objects.pending().exclude(kind=Order.Kind.RENEWAL)
    old = pending.filter(due_on__lt=today - timedelta(days=60))
    obsolete = pending.filter(kind=Order.Kind.UPGRADE, period_end__lte=today)
    (old | obsolete).cancel()


@transaction.atomic
def _renew(account: Account) -> None:
    subscription = subscriptions.lock_subscription(account)
    if not subscription.account.is_open:
        return
    subscriptions.recompute_plan(subscription)
    _place_renewal(subscription)
    if subscription.plan.is_free and subscription.is_top_up_due:
        _top_up(subscription)


def _top_up(subscription: Subscription) -> None:
    """Raise the balance to the monthly credits, once even if several months were missed.

    A balance above them stays unchanged.
    """
    account, plan = subscription.account, subscription.plan
    period = period_containing(timezone.now().date(), subscription.started_on)
    wallet = Wallet.objects.select_for_update().get(account=account)
    missing = plan.monthly_credits - wallet.balance
    if missing > 0 and subscription.gets_top_ups and not _had_sign_up_credits(account, period):
        services.post_entry(
            account=account,
            kind=LedgerEntry.Kind.PLAN,
            amount=missing,
            source=f"plan:{plan.code}:{account.public_id}:{period.start}",
            actor=None,
            reason=f"{plan} plan: topped up to {plan.monthly_credits:,}",
        )
    subscription.topped_up_until = period.end
    subscription.save(update_fields=["topped_up_until"])


def _had_sign_up_credits(account: Account, period: Period) -> bool:
    """Return whether the account's sign-up credits were those of this period.

    The first top-up is due after that period, so this only matters if the clock was ahead.
    """
    signed_up = account.ledger.filter(
        kind=LedgerEntry.Kind.SIGNUP,
        at__gte=midnight(period.start),
        at__lt=midnight(period.end),
    )
    return period.start <= account.created_at.date() < period.end or signed_up.exists()


def _place_renewal(subscription: Subscription) -> None:
    """Place a renewal order for the next plan shortly before coverage ends, if none is pending."""
    today, end = timezone.now().date(), subscription.covered_until
    plan = subscription.next_plan
    if end is None or plan.is_free or subscription.renews_automatically:
        return
    if today < end - RENEWAL_LEAD_TIME:
        return
    # If the job didn't run for a long time, renews the current month, not one that is over.
    start = max(end, period_containing(today, subscription.started_on).start)
    month = month_starting(start, subscription.started_on)
    pending = subscription.account.orders.pending().filter(kind=Order.Kind.RENEWAL)
    if not pending.filter(plan=plan, period_start=month.start).exists():
        lifecycle.place_renewal(subscription=subscription, plan=plan, month=month)
