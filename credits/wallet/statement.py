"""What the billing pages tell of an account's credits: how long they last, and every movement."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Min, Sum
from django.utils import timezone

from accounts.models import Account
from credits.models import LedgerEntry, Order, UseHour, Wallet
from credits.periods import midnight
from credits.wallet.totals import use_by_day

PACE_DAYS = 7


@dataclass(frozen=True)
class Line:
    day: date
    # The exact moment; None for a day's use, which is booked by the hour.
    at: datetime | None
    words: str
    amount: int
    balance: int
    order: Order | None = None


@dataclass(frozen=True)
class Month:
    first: date
    lines: list[Line]
    opening: int
    closing: int


def days_left(account: Account, balance: int) -> int | None:
    """At the pace of the last week; None when nothing was used in it."""
    since = timezone.now() - timedelta(days=PACE_DAYS)
    hours = UseHour.objects.filter(account=account, hour__gte=since)
    week = hours.aggregate(used=Sum("credits"), first=Min("hour"))
    if not week["used"]:
        return None
    hours_of_use = max(24.0, (timezone.now() - week["first"]).total_seconds() / 3600)
    return int(balance / (week["used"] / hours_of_use * 24))


def month_of(account: Account, first: date) -> Month:
    """The newest movement first, each with the balance after it; a debt is below zero."""
    following = next_month(first)
    opening = balance = _balance_before(account, first)
    lines = []
    for day, at, words, amount, order in _movements(account, first, following):
        balance += amount
        lines.append(Line(day, at, words, amount, balance, order))
    return Month(first, lines[::-1], opening, balance)


def next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)


def month_before(first: date) -> date:
    return (first - timedelta(days=1)).replace(day=1)


def words_of(entry: LedgerEntry) -> str:
    """Customers are told that it was our staff, and why; who it was is in the audit log."""
    if entry.kind == LedgerEntry.Kind.SIGNUP or entry.source.startswith(LedgerEntry.LOST_CHARGE):
        return entry.reason
    return f"{entry.get_kind_display()}: {entry.reason}"


Movement = tuple[date, datetime | None, str, int, Order | None]


def _movements(account: Account, first: date, following: date) -> list[Movement]:
    entries = account.ledger.filter(at__gte=midnight(first), at__lt=midnight(following))
    movements: list[Movement] = [
        (entry.at.date(), entry.at, words_of(entry), entry.amount, entry.order)
        for entry in entries.select_related("order").order_by("at", "pk")
    ]
    used: dict[date, tuple[int, int]] = {}
    for use in use_by_day(account, first, following - timedelta(days=1)):
        calls, credits = used.get(use.of, (0, 0))
        # What was free moved nothing.
        used[use.of] = (calls + (use.calls if use.credits else 0), credits + use.credits)
    movements += [
        (day, None, f"{calls:,} validation{'' if calls == 1 else 's'}", -credits, None)
        for day, (calls, credits) in used.items()
        if credits
    ]
    # A day's use stands after what was booked on it.
    return sorted(movements, key=lambda m: (m[0], m[1] or midnight(m[0] + timedelta(days=1))))


def _balance_before(account: Account, day: date) -> int:
    """Reckoned back from what is there now: few rows for the latest months, and of one moment."""
    wallet: Any = Wallet.objects.with_books(since=day).get(account=account)
    return int(wallet.balance - wallet.debt - wallet.booked + wallet.used)
