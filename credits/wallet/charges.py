"""What a validation costs is taken here: many charges in one transaction, or one.

A charge takes from the wallet and is booked as use. The caller records what it was for in the same
transaction.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

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
from runtime.database.raw_sql import BulkInsert, Row
from runtime.metrics.registry import Counter, Histogram, MetricsSwitch

batches = Counter(
    "charge_batches", "Transactions that charged one request or many, and booked their use."
)
charged = Counter("credits_charged", "Credits that were charged.")
seconds = Histogram(
    "charge_duration_seconds", "How long the charge of a batch took in the database."
)
refused = Counter("charges_refused", "Requests that the balance did not cover: 402.")


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
        message=f"This request costs {format_count(required)} and your balance is {balance}. "
        "Buy credits or upgrade your plan.",
        details={
            "required": required,
            "balance": balance,
            "top_up_url": f"{settings.BASE_URL}{_path('credits:choose-pack')}",
            "upgrade_url": f"{settings.BASE_URL}{_path('credits:choose-plan')}",
        },
    )


# A flood of requests that nobody can pay for must cost little.
_path = cache(reverse)


@transaction.atomic(savepoint=False)
def charge(one: Charge) -> int:
    """The balance after it. A balance that does not cover the cost undoes the transaction."""
    (balance,) = charge_all([one])
    if balance is None:
        refused.add()
        raise insufficient_credits(required=one.cost, balance=balance_of(one.account))
    return balance


@transaction.atomic(savepoint=False)
def charge_all(charges: Sequence[Charge]) -> list[int | None]:
    """The balance after each, as if one had come after the other. None for those of an account
    that cannot pay for all of its own here. Who is to be told about the balance gets a mail."""
    started = time.perf_counter()
    paid = Wallet.objects.charge_all(_costs(charges))
    UseHour.objects.add_all(_uses(one for one in charges if one.account.pk in paid))
    balances = _balances(charges, {account: balance for account, (balance, _) in paid.items()})
    for one, balance in zip(charges, balances, strict=True):
        if balance is not None:
            _tell(one, balance, paid[one.account.pk][1])
    took = time.perf_counter() - started
    transaction.on_commit(lambda: _measure(charges, balances, took))
    return balances


def charge_quietly(charges: Sequence[Charge], record: BulkInsert) -> list[int | None]:
    """The same in one statement, with what is to be recorded of them, for charges of keys. None
    also for those that have to go another way: see Wallet.objects.charge_quietly."""
    started = time.perf_counter()
    records = [*UseHour.objects.additions(_uses(charges)), record]
    balances = _balances(charges, Wallet.objects.charge_quietly(_costs(charges), *records))
    _measure(charges, balances, time.perf_counter() - started)
    return balances


@transaction.atomic(savepoint=False)
def refund(one: Charge, charged_at: datetime) -> None:
    """Undoes a charge in both books. The call stays counted as use, at no cost."""
    # In the order in which a charge locks them.
    Wallet.objects.add(one.account, one.cost)
    which = (one.account.pk, one.key.pk if one.key else None, _hour(charged_at), one.verdict)
    UseHour.objects.add_all([(*which, 0, -one.cost, 0, *(0 for _ in BUCKETS))])


def _measure(charges: Sequence[Charge], balances: Sequence[int | None], took: float) -> None:
    if MetricsSwitch.is_on:
        batches.add()
        seconds.add(took)
        paid = (one.cost for one, left in zip(charges, balances, strict=True) if left is not None)
        charged.add(amount=sum(paid))


def _costs(charges: Iterable[Charge]) -> dict[int, int]:
    costs: dict[int, int] = defaultdict(int)
    for one in charges:
        costs[one.account.pk] += one.cost
    return costs


def _balances(charges: Sequence[Charge], left: dict[int, int]) -> list[int | None]:
    """`left`: by account, after all of its charges."""
    still_to_come = _costs(charges)
    balances: list[int | None] = []
    for one in charges:
        still_to_come[one.account.pk] -= one.cost
        balance = left.get(one.account.pk)
        balances.append(None if balance is None else balance + still_to_come[one.account.pk])
    return balances


def _tell(one: Charge, balance: int, threshold: int) -> None:
    """Of all charges exactly one crosses the threshold, whatever happens at once."""
    if one.cost and balance == 0:
        emails.queue_zero_balance(account=one.account)
    elif balance <= threshold < balance + one.cost:
        emails.queue_low_balance(account=one.account, balance=balance, threshold=threshold)


def _uses(charges: Iterable[Charge]) -> Iterator[Row]:
    hour = _hour(timezone.now())
    for one in charges:
        which = (one.account.pk, one.key.pk if one.key else None, hour, one.verdict)
        yield (*which, 1, one.cost, one.duration_ms, *_histogram(one.duration_ms))


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _histogram(duration_ms: int) -> list[int]:
    own = bucket_of(duration_ms)
    return [int(bucket == own) for bucket in BUCKETS]


def balance_of(account: Account) -> int:
    return Wallet.objects.values_list("balance", flat=True).get(account=account)


def format_count(number: int) -> str:
    return "1 credit" if number == 1 else f"{number:,} credits"
