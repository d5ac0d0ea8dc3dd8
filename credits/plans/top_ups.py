from django.utils import timezone

from accounts.models import Account
from credits import services
from credits.models import EntryKind, Subscription, Wallet
from credits.models.subscriptions import MAX_MONTH
from credits.plans.periods import Period, period_containing
from runtime.dates import midnight


def top_up_if_due(subscription: Subscription) -> None:
    """Raise the balance once, even after missed months. The caller has locked the account."""
    today = timezone.now().date()
    # A date too far ahead means that the clock was ahead.
    is_current = today < subscription.topped_up_until <= today + MAX_MONTH
    if not subscription.plan.is_free or is_current:
        return
    period = period_containing(today, subscription.started_on)
    if subscription.gets_top_ups and not _had_sign_up_credits(subscription.account, period):
        _raise_balance(subscription, period)
    subscription.topped_up_until = period.end
    subscription.save(update_fields=["topped_up_until"])


def _raise_balance(subscription: Subscription, period: Period) -> None:
    account, plan = subscription.account, subscription.plan
    wallet = Wallet.objects.select_for_update().get(account=account)
    missing = plan.monthly_credits - wallet.balance - wallet.held
    if missing > 0:
        services.post_entry(
            account=account,
            kind=EntryKind.PLAN,
            amount=missing,
            source=f"plan:{plan.code}:{account.public_id}:{period.start}",
            actor=None,
            reason=f"{plan}, topped up to {plan.monthly_credits:,} credits",
        )


def _had_sign_up_credits(account: Account, period: Period) -> bool:
    """Return whether the period includes the sign-up: only if the clock was ahead."""
    signed_up = account.ledger.filter(
        kind=EntryKind.SIGNUP, at__gte=midnight(period.start), at__lt=midnight(period.end)
    )
    return period.start <= account.created_at.date() < period.end or signed_up.exists()
