from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits import emails
from credits.models import AutomaticOrder, AutomaticTopUp, Order, Pack, SavedCard
from credits.money import format_money
from credits.plans import subscriptions
from runtime.http.refusals import Refused

Off = AutomaticTopUp.Off

_FRESH = {"paused_for": "", "failures": 0}


@transaction.atomic
def switch_on(*, account: Account, threshold: int, pack: Pack, cap_cents: int, actor: User) -> None:
    """Switch it on or change it. The last order's time stays, so no order comes sooner."""
    subscription = subscriptions.lock_subscription(account)
    if not subscription.account.is_open:
        raise Refused("This account is closed. Reopen it to buy credits.")
    if not SavedCard.objects.filter(account=account).exists():
        raise Refused("Save a card first. Automatic top-up pays with it.")
    was_on = AutomaticTopUp.objects.filter(account=account, is_on=True).exists()
    AutomaticTopUp.objects.update_or_create(
        account=account,
        defaults={
            "is_on": True,
            "threshold": threshold,
            "pack": pack,
            "cap_cents": cap_cents,
            "currency": settings.CURRENCY,
            "off_for": "",
            "off_at": None,
            **_FRESH,
            "next_attempt_at": timezone.now(),
        },
    )
    action = "top_up.changed" if was_on else "top_up.switched_on"
    cap = format_money(cap_cents, settings.CURRENCY)
    target = f"{pack} when the balance falls below {threshold:,}, at most {cap} per month"
    audit.record(account, actor, action, target)


@transaction.atomic
def switch_off(*, account: Account, reason: AutomaticTopUp.Off, actor: User | None = None) -> bool:
    """Return False if automatic top-up was off. The worker abandons an unpaid order."""
    subscriptions.lock_subscription(account)
    is_on = AutomaticTopUp.objects.filter(account=account, is_on=True)
    if not is_on.update(is_on=False, off_for=reason, off_at=timezone.now(), paused_for=""):
        return False
    audit.record(account, actor, "top_up.switched_off", reason.label)
    return True


def switch_off_closed_account(*, account: Account, actor: User) -> None:
    switch_off(account=account, reason=Off.CLOSED, actor=actor)


@transaction.atomic
def switch_off_after_return(*, order: Order, reason: AutomaticTopUp.Off) -> None:
    is_automatic = AutomaticOrder.objects.filter(order=order).exists()
    if is_automatic and switch_off(account=order.account, reason=reason):
        emails.queue_top_up_off(order=order, reason=reason.label)


def resume(account: Account) -> None:
    AutomaticTopUp.objects.filter(account=account).update(**_FRESH, next_attempt_at=timezone.now())
