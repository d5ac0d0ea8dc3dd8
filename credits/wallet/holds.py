"""Hold credits for work that takes a while, charge it step by step, and release the rest.

hold = hold_credits(account=account, amount=48_120, source="list:lst_…", reason="customers.csv")
charge_hold(hold=hold, charges=charges)  # in the transaction that stores the results
release_hold(hold=hold)

Each function locks the wallet before the hold, as charges and deductions do.
"""

from collections.abc import Sequence

from django.db import transaction

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import Hold, Wallet
from credits.wallet.charges import (
    Charge,
    credits_charged,
    insufficient_credits,
    queue_balance_email,
    record_usage,
)
from credits.wallet.key_limits import check_hold


class HoldEnded(Exception):
    """Raised if a hold no longer covers the work, because a deduction or refund canceled it."""


@transaction.atomic
def hold_credits(
    *, account: Account, amount: int, source: str, reason: str, key: ApiKey | None = None
) -> Hold:
    """Hold credits for work, or return the hold that this work has.

    Raise InsufficientCredits if the balance is too low, and KeyCreditLimitReached if the key's
    limit is. Queues the emails that a charge queues.
    """
    wallet = _lock_wallet(account)
    existing = Hold.objects.filter(account=account, source=source).first()
    if existing is not None:
        return existing
    if wallet.balance < amount:
        raise insufficient_credits(required=amount, balance=wallet.balance, held=wallet.held)
    if key is not None:
        check_hold(key, amount)
    wallet.hold(amount)
    wallet.save(update_fields=["balance", "held"])
    queue_balance_email(account, amount, wallet.balance, wallet.threshold)
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
    """Charge validations to a hold, and record their usage. Raise HoldEnded if it can't pay all."""
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
def release_hold(*, hold: Hold) -> int:
    """End a hold, and return what it still held to the balance. Does nothing if it has ended."""
    wallet = _lock_wallet(hold.account)
    hold.refresh_from_db()
    if not hold.is_open:
        return 0
    freed = hold.end(is_canceled=False)
    wallet.free(freed)
    wallet.save(update_fields=["balance", "held"])
    return freed


def release_holds(*, account: Account) -> None:
    """Release all holds of an account that is erased. A hook."""
    for hold in Hold.objects.open().filter(account=account):
        release_hold(hold=hold)


def _lock_wallet(account: Account) -> Wallet:
    return Wallet.objects.select_for_update().get(account=account)
