"""What moves credits: charge, grant, take back. Each is one short transaction.

The wallet's row is what those who come at once queue on. A charge is booked as use, all else as an
entry of the ledger, whose source key says once and for all what it is for.
"""

from django.db import transaction
from django.utils.crypto import get_random_string

from accounts import audit
from accounts.models import Account, User
from credits.models import LedgerEntry, Order, Subscription, Wallet
from credits.models.catalogue import MOST_CREDITS

Kind = LedgerEntry.Kind


class InvalidAmount(ValueError):
    def __init__(self) -> None:
        super().__init__(f"An amount is a whole number from 1 to {MOST_CREDITS:,} credits.")


def require_amount(amount: int) -> None:
    if isinstance(amount, bool) or not isinstance(amount, int) or not 1 <= amount <= MOST_CREDITS:
        raise InvalidAmount


@transaction.atomic
def book(
    *,
    account: Account,
    kind: Kind,
    amount: int,
    source: str,
    actor: User | None,
    reason: str,
    order: Order | None = None,
) -> bool:
    """One entry of the ledger, and the wallet with it. False when this source was booked before.

    The entry goes in first: of two with one source the second waits here for the first.
    """
    require_amount(amount)
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
        move = Wallet.objects.take if outgoing else Wallet.objects.add
        move(account, amount)
    return is_new


@transaction.atomic
def grant(
    *,
    account: Account,
    amount: int,
    reason: str,
    actor: User | None,
    form_token: str | None = None,
    ip: str | None = None,
) -> bool:
    """By staff. False when the form was sent before."""
    source = f"grant:{account.public_id}:{form_token or get_random_string(32)}"
    booked = book(
        account=account, kind=Kind.GRANT, amount=amount, source=source, actor=actor, reason=reason
    )
    if booked:
        audit.record(account, actor, "credits.granted", f"{amount:,}: {reason}", ip)
    return booked


@transaction.atomic
def deduct(
    *,
    account: Account,
    amount: int,
    reason: str,
    actor: User | None,
    form_token: str | None = None,
    ip: str | None = None,
) -> bool:
    """By staff. What was spent already becomes a debt, which the next grant pays first."""
    source = f"take_back:{account.public_id}:{form_token or get_random_string(32)}"
    kind = Kind.TAKE_BACK
    booked = book(
        account=account, kind=kind, amount=amount, source=source, actor=actor, reason=reason
    )
    if booked:
        audit.record(account, actor, "credits.taken_back", f"{amount:,}: {reason}", ip)
    return booked


@transaction.atomic
def open_with_credits(*, account: Account, credits: int) -> None:
    """For the command line: exactly so many, in place of the sign-up credits."""
    Subscription.objects.filter(account=account).update(gets_free_credits=True)
    if credits:
        book(
            account=account,
            kind=Kind.SIGNUP,
            amount=credits,
            source=f"opening:{account.public_id}",
            actor=None,
            reason="Opening balance",
        )
