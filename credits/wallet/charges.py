"""The caller records the validations in the same transaction."""

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.events import record_event
from accounts.models import Account
from apikeys.errors import ApiError
from apikeys.models import ApiKey
from credits import emails
from credits.event_types import CREDITS_EXHAUSTED, CREDITS_LOW
from credits.models import UseHour, Wallet
from credits.models.usage import BUCKET_BOUNDS, BUCKETS
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
    # None for the playground, and for lists started in the dashboard.
    key: ApiKey | None
    verdict: str
    # In credits. 0 is recorded as usage too.
    cost: int
    # Per validation. None if no caller waited.
    duration_ms: int | None
    # How many the cost is for.
    validations: int = 1
    for_list: bool = False


@dataclass(eq=False)
class InsufficientCredits(ApiError):
    code: str = "insufficient_credits"


def insufficient_credits(wallet: Wallet, *, required: int) -> InsufficientCredits:
    also_held = f", and {wallet.held:,} more are held for work in progress" if wallet.held else ""
    return InsufficientCredits(
        message=f"This request costs {format_credits(required)} and your balance is "
        f"{wallet.balance:,}{also_held}. Buy credits or upgrade your plan.",
        details={
            "required": required,
            "balance": wallet.balance,
            "top_up_url": f"{settings.BASE_URL}{_path('credits:choose-pack')}"
            f"?credits={max(required - wallet.balance, 1)}",
            "upgrade_url": f"{settings.BASE_URL}{_path('credits:choose-plan')}",
        },
    )


# Cached, so that refusing a flood of requests stays cheap.
_path = cache(reverse)


@transaction.atomic(savepoint=False)
def charge_account(*charges: Charge) -> int:
    """Raises InsufficientCredits or KeyCreditLimitReached, which roll back the transaction."""
    started, month = time.perf_counter(), key_limits.current_month()
    account, cost = charges[0].account, sum(charge.cost for charge in charges)
    paid = Wallet.objects.charge(account, cost)
    if paid is None:
        raise insufficient_credits(Wallet.objects.get(account=account), required=cost)
    balance, threshold = paid
    record_usage(charges)
    costs_by_key: dict[ApiKey, int] = defaultdict(int)
    for charge in charges:
        if charge.key is not None and charge.key.credits_per_month is not None:
            costs_by_key[charge.key] += charge.cost
    key_limits.enforce(costs_by_key, month)
    # Announce it as if they were charged one after the other.
    left = balance + cost
    for charge in charges:
        left -= charge.cost
        announce_balance(account, charge.cost, left, threshold)
    duration = time.perf_counter() - started
    transaction.on_commit(lambda: _record_metrics(cost, duration))
    return balance


def charge_and_insert(
    charges: Sequence[Charge], *records: BulkInsert, skip_locked: bool
) -> list[int | None]:
    """Charge any accounts, record their usage, and insert `records`, in one statement.

    The fast path of `charge_account`. None: take the slow path (see
    WalletQuerySet.charge_and_insert). Keys with a credit limit always take it.
    """
    started = time.perf_counter()
    inserts = [*UseHour.objects.bulk_inserts(_usage_rows(charges)), *records]
    costs: dict[int, int] = defaultdict(int)
    for charge in charges:
        costs[charge.account.pk] += charge.cost
    paid = Wallet.objects.charge_and_insert(costs, *inserts, skip_locked=skip_locked)
    charged = sum(costs[account] for account in paid)
    balances: list[int | None] = []
    for charge in charges:
        account = charge.account.pk
        costs[account] -= charge.cost
        # The cost of later requests is deducted already.
        balances.append(paid[account] + costs[account] if account in paid else None)
    _record_metrics(charged, time.perf_counter() - started)
    return balances


@transaction.atomic(savepoint=False)
def refund(charge: Charge, charged_at: datetime) -> None:
    """The call stays counted, at no cost."""
    # Locks the wallet first, as a charge does.
    Wallet.objects.add(charge.account, charge.cost)
    UseHour.objects.add_all(
        [(*_usage_key(charge, _hour(charged_at)), 0, -charge.cost, 0, 0, 0, *(0 for _ in BUCKETS))]
    )


def _record_metrics(credits: int, duration: float) -> None:
    charge_batches.inc()
    charge_seconds.observe(duration)
    credits_charged.inc(credits)


def announce_balance(account: Account, cost: int, balance: int, threshold: int) -> bool:
    """Queue an email and record an event, and return True, if this cost crossed the threshold.

    The wallet is locked, so only one of several charges crosses it.
    """
    if cost and balance == 0:
        event_type = CREDITS_EXHAUSTED
        emails.queue_zero_balance(account=account)
    elif balance <= threshold < balance + cost:
        event_type = CREDITS_LOW
        emails.queue_low_balance(account=account, balance=balance, threshold=threshold)
    else:
        return False
    record_event(account, event_type, {"balance": balance, "threshold": threshold})
    return True


def record_usage(charges: Iterable[Charge]) -> None:
    UseHour.objects.add_all(_usage_rows(charges))


def _usage_rows(charges: Iterable[Charge]) -> Iterator[Row]:
    hour = _hour(timezone.now())
    for charge in charges:
        count, duration_ms = charge.validations, charge.duration_ms
        histogram = [0] * len(BUCKETS)
        if duration_ms is not None:
            histogram[bisect_left(BUCKET_BOUNDS, duration_ms)] = count
        total_ms = count * (duration_ms or 0)
        of_lists = (count, charge.cost) if charge.for_list else (0, 0)
        counts = (count, charge.cost, *of_lists, total_ms, *histogram)
        yield (*_usage_key(charge, hour), *counts)


def _usage_key(charge: Charge, hour: datetime) -> tuple[int, int | None, datetime, str]:
    key_id = charge.key.pk if charge.key else None
    return (charge.account.pk, key_id, hour, charge.verdict)


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def get_balance(account: Account) -> int:
    return Wallet.objects.values_list("balance", flat=True).get(account=account)
