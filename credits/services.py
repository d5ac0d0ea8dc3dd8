"""Grant and deduct credits. The wallet's row serializes an account's transactions.

The unique source of each ledger entry makes repeating it harmless.
"""

from functools import partial

from django.db import transaction
from django.utils.crypto import get_random_string

from accounts import audit
from accounts.events import record_event
from accounts.models import Account, User
from credits.event_types import CREDITS_GRANTED
from credits.models import EntryKind, LedgerEntry, Order, Subscription, Wallet
from credits.models.catalog import MAX_CREDITS


class InvalidAmount(ValueError):
    def __init__(self) -> None:
        super().__init__(f"Enter a whole number from 1 to {MAX_CREDITS:,}.")


def validate_amount(amount: int) -> None:
    if isinstance(amount, bool) or not isinstance(amount, int) or not 1 <= amount <= MAX_CREDITS:
        raise InvalidAmount


@transaction.atomic
def post_entry(
    *,
    account: Account,
    kind: EntryKind,
    amount: int,
    source: str,
    actor: User | None,
    reason: str,
    order: Order | None = None,
) -> bool:
    """Return False if the ledger has its source already.

    The entry comes first: a concurrent transaction with the same source waits at the unique index.
    """
    validate_amount(amount)
    outgoing = kind in LedgerEntry.OUTGOING
    _, is_new = LedgerEntry.objects.get_or_create(
        source=source,
        defaults={
            "account": account,
            "kind": kind,
            "amount": -amount if outgoing else amount,
            "actor": actor.email if actor else "system",
            "reason": reason[:300],
            "order": order,
        },
    )
    if is_new:
        update = Wallet.objects.deduct if outgoing else Wallet.objects.add
        update(account, amount)
    if is_new and not outgoing:
        balance = Wallet.objects.values_list("balance", flat=True).get(account=account)
        data = {"credits": amount, "kind": kind.value, "balance": balance}
        record_event(account, CREDITS_GRANTED, data)
    return is_new


@transaction.atomic
def _change_balance(
    kind: EntryKind,
    action: str,
    *,
    account: Account,
    amount: int,
    reason: str,
    actor: User | None,
    form_token: str | None = None,
) -> bool:
    """Return False if the form was submitted before."""
    source = f"{kind}:{account.public_id}:{form_token or get_random_string(32)}"
    is_new = post_entry(
        account=account, kind=kind, amount=amount, source=source, actor=actor, reason=reason
    )
    if is_new:
        audit.record(account, actor, action, f"{amount:,}: {reason}")
    return is_new


grant = partial(_change_balance, EntryKind.GRANT, "credits.granted")
deduct = partial(_change_balance, EntryKind.DEDUCT, "credits.deducted")


@transaction.atomic
def set_opening_balance(*, account: Account, credits: int) -> None:
    """Give a new account these credits instead of the sign-up credits."""
    Subscription.objects.filter(account=account).update(gets_free_credits=True)
    if credits:
        post_entry(
            account=account,
            kind=EntryKind.SIGNUP,
            amount=credits,
            source=f"opening:{account.public_id}",
            actor=None,
            reason="Opening balance",
        )
