"""Charge accounts for validations, one at a time or many in one transaction.

A charge lowers the balance of the wallet and is recorded as usage. The caller records what it was
for in the same transaction.
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
from credits.latency import BUCKETS, bucket_for
from credits.models import UseHour, Wallet
from credits.money import format_credits
from credits.wallet import key_limits
from runtime.database.raw_sql import BulkInsert, Row
from runtime.metrics.client import DURATION_BUCKETS, Counter, Histogram

charge_batches = Counter(
    "emailvalidation_charge_batches",
    "Transactions that charged one or more requests and recorded their usage.",
)
credits_charged = Counter("emailvalidation_credits_charged", "Credits charged.")
charge_seconds = Histogram(
    "emailvalidation_charge_duration_seconds",
    "Time the database took to charge a batch of requests.",
    buckets=DURATION_BUCKETS,
)
charges_refused = Counter(
    "emailvalidation_charges_refused",
    "Requests refused with 402 because the balance did not cover them.",
)


@dataclass(frozen=True, slots=True)
class Charge:
    account: Account
    # None for the playground of the dashboard.
    key: ApiKey | None
    verdict: str
    # A cost of 0 is recorded as usage too.
    cost: int
    # Of each validation. None if no caller waited for them.
    duration_ms: int | None
    # The number of validations that the cost is for.
    validations: int = 1


@dataclass(eq=False)
class InsufficientCredits(ApiError):
    """Raised if the balance does not cover the cost of a request."""

    code: str = "insufficient_credits"


def insufficient_credits(*, required: int, balance: int, held: int = 0) -> InsufficientCredits:
    also_held = f", and {held:,} more are held for lists" if held else ""
    return InsufficientCredits(
        message=f"This request costs {format_credits(required)} and your balance is {balance}"
        f"{also_held}. Buy credits or upgrade your plan.",
        details={
            "required": required,
            "balance": balance,
            "top_up_url": f"{settings.BASE_URL}{_path('credits:choose-pack')}",
            "upgrade_url": f"{settings.BASE_URL}{_path('credits:choose-plan')}",
        },
    )


# Cached, so that refusing a flood of requests stays cheap.
_path = cache(reverse)


@transaction.atomic(savepoint=False)
def charge_account(charge: Charge) -> int:
    """Charge one request and return the balance left.

    Raises InsufficientCredits or KeyCreditLimitReached, which roll back the transaction, if the
    balance or the limit of the key is too low.
    """
    (balance,) = charge_all([charge])
    if balance is None:
        charges_refused.inc()
        raise refusal(charge.account, required=charge.cost)
    return balance


@transaction.atomic(savepoint=False)
def charge_all(charges: Sequence[Charge]) -> list[int | None]:
    """Charge many requests and return the balance after each, as if charged one after the other.

    An account is charged for all of its requests or for none: if its balance doesn't cover their
    sum, the result is None for each of them. Queues low-balance and zero-balance emails.

    Raise KeyCreditLimitReached, which rolls back the transaction, if the limit of a key doesn't
    cover its charges.
    """
    started, month = time.perf_counter(), key_limits.current_month()
    paid = Wallet.objects.charge_all(_costs_by_account(charges))
    paid_charges = [charge for charge in charges if charge.account.pk in paid]
    record_usage(paid_charges)
    key_limits.enforce(_costs_by_limited_key(paid_charges), month)
    final_balances = {account: balance for account, (balance, _) in paid.items()}
    balances = _balances_after(charges, final_balances)
    for charge, balance in zip(charges, balances, strict=True):
        if balance is not None:
            threshold = paid[charge.account.pk][1]
            queue_balance_email(charge.account, charge.cost, balance, threshold)
    duration = time.perf_counter() - started
    transaction.on_commit(lambda: _record_metrics(charges, balances, duration))
    return balances


def charge_and_insert(
    charges: Sequence[Charge], *records: BulkInsert, skip_locked: bool
) -> list[int | None]:
    """Charge many API requests, record their usage, and insert `records`, in one statement.

    The fast path of `charge_all`. The result is None for accounts with too few credits, and for
    those that have to take the slow path: see WalletQuerySet.charge_and_insert. Keys with a credit
    limit always take the slow path.
    """
    started = time.perf_counter()
    inserts = [*UseHour.objects.bulk_inserts(_usage_rows(charges)), *records]
    costs = _costs_by_account(charges)
    final_balances = Wallet.objects.charge_and_insert(costs, *inserts, skip_locked=skip_locked)
    balances = _balances_after(charges, final_balances)
    _record_metrics(charges, balances, time.perf_counter() - started)
    return balances


@transaction.atomic(savepoint=False)
def refund(charge: Charge, charged_at: datetime) -> None:
    """Undo a charge in the wallet and in the usage. The call stays counted, at no cost."""
    # Locks the wallet first, in the same order as a charge.
    Wallet.objects.add(charge.account, charge.cost)
    UseHour.objects.add_all(
        [(*_usage_key(charge, _hour(charged_at)), 0, -charge.cost, 0, *(0 for _ in BUCKETS))]
    )


def _record_metrics(
    charges: Sequence[Charge], balances: Sequence[int | None], duration: float
) -> None:
    charge_batches.inc()
    charge_seconds.observe(duration)
    charged = zip(charges, balances, strict=True)
    credits_charged.inc(sum(charge.cost for charge, balance in charged if balance is not None))


def _costs_by_account(charges: Iterable[Charge]) -> dict[int, int]:
    costs: dict[int, int] = defaultdict(int)
    for charge in charges:
        costs[charge.account.pk] += charge.cost
    return costs


def _costs_by_limited_key(charges: Iterable[Charge]) -> dict[ApiKey, int]:
    costs: dict[ApiKey, int] = defaultdict(int)
    for charge in charges:
        if charge.key is not None and charge.key.credits_per_month is not None:
            costs[charge.key] += charge.cost
    return costs


def _balances_after(charges: Sequence[Charge], final_balances: dict[int, int]) -> list[int | None]:
    """Return the balance after each charge, from the balance of each account after all of them."""
    later_costs = _costs_by_account(charges)
    balances: list[int | None] = []
    for charge in charges:
        account = charge.account.pk
        later_costs[account] -= charge.cost
        final = final_balances.get(account)
        balances.append(None if final is None else final + later_costs[account])
    return balances


def queue_balance_email(account: Account, cost: int, balance: int, threshold: int) -> None:
    """Queue an email if this cost crossed the threshold, which exactly one charge or hold does.

    The wallet's row is locked, so this is also true for concurrent charges.
    """
    if cost and balance == 0:
        emails.queue_zero_balance(account=account)
    elif balance <= threshold < balance + cost:
        emails.queue_low_balance(account=account, balance=balance, threshold=threshold)


def record_usage(charges: Iterable[Charge]) -> None:
    UseHour.objects.add_all(_usage_rows(charges))


def _usage_rows(charges: Iterable[Charge]) -> Iterator[Row]:
    hour = _hour(timezone.now())
    for charge in charges:
        count, duration_ms = charge.validations, charge.duration_ms
        histogram = [count * hit for hit in _histogram(duration_ms)]
        yield (
            *_usage_key(charge, hour),
            count,
            charge.cost,
            count * (duration_ms or 0),
            *histogram,
        )


def _usage_key(charge: Charge, hour: datetime) -> tuple[int, int | None, datetime, str]:
    key_id = charge.key.pk if charge.key else None
    return (charge.account.pk, key_id, hour, charge.verdict)


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _histogram(duration_ms: int | None) -> list[int]:
    hit = None if duration_ms is None else bucket_for(duration_ms)
    return [int(bucket == hit) for bucket in BUCKETS]


def refusal(account: Account, *, required: int) -> InsufficientCredits:
    """Return the error for a request that the account's balance doesn't cover."""
    balance, held = Wallet.objects.values_list("balance", "held").get(account=account)
    return insufficient_credits(required=required, balance=balance, held=held)


def get_balance(account: Account) -> int:
    return Wallet.objects.values_list("balance", flat=True).get(account=account)
