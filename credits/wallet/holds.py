"""Each function locks the wallet before the hold, as charges do."""

from collections.abc import Sequence

from django.db import transaction

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import Hold, Wallet
from credits.wallet.charges import (
    Charge,
    announce_balance,
    credits_charged,
    insufficient_credits,
    record_usage,
)
from credits.wallet.key_limits import check_hold


class HoldEnded(Exception):
    """Raised if a deduction or refund canceled the hold."""


@transaction.atomic
def hold_credits(
    *, account: Account, amount: int, source: str, reason: str, key: ApiKey | None = None
) -> Hold:
    """Hold credits, or return the hold that this work has."""
    wallet = _lock_wallet(account)
    existing = Hold.objects.filter(account=account, source=source).first()
    if existing is not None:
        return existing
    if wallet.balance < amount:
        raise insufficient_credits(wallet, required=amount)
    if key is not None:
        check_hold(key, amount)
    wallet.hold(amount)
    wallet.save(update_fields=["balance", "held"])
    if wallet.announces_hold and announce_balance(
        account, amount, wallet.balance, wallet.threshold
    ):
        wallet.announced_by_hold = wallet.balance
        wallet.save(update_fields=["announced_by_hold"])
    return Hold.objects.create(
        account=account,
        key=key,
        source=source,
        reason=reason[:300],
        amount=amount,
        remaining=amount,
    )


@transaction.atomic
def charge_hold(*, hold: Hold, charges: Sequence[Charge]) -> None:
    """Charge a hold in the transaction that stores the results, or raise HoldEnded."""
    cost = sum(charge.cost for charge in charges)
    wallet = _lock_wallet(hold.account)
    hold.refresh_from_db()
    if not hold.is_open or hold.remaining < cost:
        raise HoldEnded
    wallet.held -= cost
    wallet.save(update_fields=["held"])
    hold.charge(cost)
    record_usage(charges)
    transaction.on_commit(lambda: credits_charged.inc(cost))


@transaction.atomic
def shrink_hold(*, hold: Hold, to: int) -> int:
    """Return to the balance what the rest of the work can't cost."""
    wallet = _lock_wallet(hold.account)
    hold.refresh_from_db()
    freed = max(0, hold.remaining - to)
    hold.remaining -= freed
    hold.save(update_fields=["remaining"])
    wallet.free(freed)
    wallet.save(update_fields=["balance", "held"])
    return freed


@transaction.atomic
def release_hold(*, hold: Hold) -> int:
    wallet = _lock_wallet(hold.account)
    hold.refresh_from_db()
    if not hold.is_open:
        return 0
    freed = hold.end(is_canceled=False)
    wallet.free(freed)
    wallet.save(update_fields=["balance", "held"])
    return freed


def release_holds(*, account: Account) -> None:
    for hold in Hold.objects.open().filter(account=account):
        release_hold(hold=hold)


def _lock_wallet(account: Account) -> Wallet:
    return Wallet.objects.select_for_update().get(account=account)
