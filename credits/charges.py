"""What a validation costs is taken here: many charges in one transaction, or one.

A charge takes from the wallet and is booked as use. The caller records what it was for in the same
transaction.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from apikeys.errors import ApiError
from apikeys.models import ApiKey
from credits import emails
from credits.latency import BUCKETS, bucket_of
from credits.models import UseHour, Wallet


@dataclass(frozen=True, slots=True)
class Charge:
    account: Account
    # None: the playground of the dashboard.
    key: ApiKey | None
    verdict: str
    # 0 is booked as use as well.
    cost: int
    duration_ms: int


@dataclass(eq=False)
class InsufficientCredits(ApiError):
    """The balance does not cover what a request costs."""

    code: str = "insufficient_credits"


def insufficient_credits(*, required: int, balance: int) -> InsufficientCredits:
    return InsufficientCredits(
        message=f"This request costs {in_words(required)} and your balance is {balance}. "
        "Buy credits or upgrade your plan.",
        details={
            "required": required,
            "balance": balance,
            "top_up_url": f"{settings.BASE_URL}{reverse('credits:choose-pack')}",
            "upgrade_url": f"{settings.BASE_URL}{reverse('credits:choose-plan')}",
        },
    )


@transaction.atomic(savepoint=False)
def charge(
    *, account: Account, key: ApiKey | None, verdict: str, cost: int, duration_ms: int
) -> int:
    """The balance after it. A balance that does not cover the cost undoes the transaction."""
    (balance,) = charge_all([Charge(account, key, verdict, cost, duration_ms)], waits=True)
    if balance is None:
        raise insufficient_credits(required=cost, balance=balance_of(account))
    return balance


@transaction.atomic(savepoint=False)
def charge_all(charges: Sequence[Charge], *, waits: bool) -> list[int | None]:
    """The balance after each, as if one had come after the other. None for those of an account
    that cannot pay for all of its own here; and, unless the caller waits for it, of one whose
    wallet somebody else is changing."""
    costs: dict[int, int] = defaultdict(int)
    for one in charges:
        costs[one.account.pk] += one.cost
    paid = Wallet.objects.charge_all(costs, waits=waits)
    _book_use([one for one in charges if one.account.pk in paid])
    return [_settle(one, paid, costs) for one in charges]


def _settle(one: Charge, paid: dict[int, tuple[int, int]], left: dict[int, int]) -> int | None:
    """`left`: what is still to come, by account, of what was paid at once."""
    account_id = one.account.pk
    if account_id not in paid:
        return None
    left[account_id] -= one.cost
    balance, threshold = paid[account_id]
    balance += left[account_id]
    _tell(one, balance, threshold)
    return balance


def _tell(one: Charge, balance: int, threshold: int) -> None:
    """Of all charges exactly one crosses the threshold, whatever happens at once."""
    if one.cost and balance == 0:
        emails.queue_zero_balance(account=one.account)
    elif balance <= threshold < balance + one.cost:
        emails.queue_low_balance(account=one.account, balance=balance, threshold=threshold)


def _book_use(charges: list[Charge]) -> None:
    hour: datetime = timezone.now().replace(minute=0, second=0, microsecond=0)
    UseHour.objects.add_all(
        (
            *(one.account.pk, one.key.pk if one.key else None, hour, one.verdict),
            *(1, one.cost, one.duration_ms, *_histogram(one.duration_ms)),
        )
        for one in charges
    )


def _histogram(duration_ms: int) -> list[int]:
    own = bucket_of(duration_ms)
    return [int(bucket == own) for bucket in BUCKETS]


def balance_of(account: Account) -> int:
    return Wallet.objects.values_list("balance", flat=True).get(account=account)


def in_words(number: int) -> str:
    return "1 credit" if number == 1 else f"{number:,} credits"
